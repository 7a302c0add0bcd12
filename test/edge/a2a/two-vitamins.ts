// Two folders, each with a vitamin of its own that can serve over A2A and knows the other one as a remote agent.
import { once } from "node:events"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { env, type FakeLlm } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

export type Side = {
  tmp: Tmp
  port: number
  token: string
  /** The environment of its processes. */
  env(llm: FakeLlm): Record<string, string>
} & AsyncDisposable

/** `names`: what each calls the other one. */
export async function twoVitamins(names: {
  first: string
  second: string
}): Promise<[Side, Side] & AsyncDisposable> {
  const first = await side("a")
  const second = await side("b")
  const knows = (own: typeof first, other: typeof first, name: string): Side => ({
    ...own,
    env: (llm) => ({
      ...env(llm, "chat").variables,
      PEER_TOKEN: other.token,
      VITAMIN_CONFIG: JSON.stringify({
        a2a: {
          [name]: {
            url: `http://127.0.0.1:${other.port}`,
            token: "$PEER_TOKEN",
            description: "Reviews changes.",
          },
        },
      }),
    }),
    [Symbol.asyncDispose]: () => own.tmp[Symbol.asyncDispose](),
  })
  const sides: [Side, Side] = [knows(first, second, names.first), knows(second, first, names.second)]
  return Object.assign(sides, {
    async [Symbol.asyncDispose]() {
      for (const one of sides) await one[Symbol.asyncDispose]()
    },
  })
}

async function side(letter: string) {
  const tmp = await tmpdir({ git: true })
  const token = letter.repeat(43)
  const folder = join(tmp.env.XDG_STATE_HOME!, "vitamin")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, "token"), `${token}\n`, { mode: 0o600 })
  chmodSync(folder, 0o700)
  return { tmp, token, port: await freePort() }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}
