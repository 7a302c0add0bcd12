// One folder with a scripted model, a skill and an MCP server, and a client of it: over HTTP to the real command, or in this
// process.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { type Client, createClient, createHttpTransport } from "#client/client.ts"
import { createLocalTransport } from "#edge/server/local-transport.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { mcpJson, officialServer } from "../ability/mcp/servers.ts"
import { serving, vitamin } from "../fixture/cli.ts"
import { env, type FakeLlm, fakeLlm, type Script } from "../fixture/fake-llm.ts"
import { noServers } from "../fixture/no-servers.ts"
import { type Tmp, tmpdir } from "../fixture/tmpdir.ts"

export type World = { client: Client; tmp: Tmp; llm: FakeLlm } & AsyncDisposable
export const kinds = ["http", "local"] as const

const skill = "---\nname: greet\ndescription: Greets people. Use when somebody says hello.\n---\nSay hello.\n"

export async function startWorld(kind: (typeof kinds)[number], script: Script): Promise<World> {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const llm = await fakeLlm(script)
  const variables = { ...noServers, ...env(llm, "chat").variables }
  const started = kind === "http" ? overHttp(tmp, variables) : inProcess(tmp, variables)
  const { client, end } = await started.catch(async (error) => {
    await llm[Symbol.asyncDispose]()
    throw error
  })
  return {
    client,
    tmp,
    llm,
    async [Symbol.asyncDispose]() {
      await end()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

async function overHttp(tmp: Tmp, variables: Record<string, string>) {
  const { child, url, tokenFile } = await serving(tmp, [], variables)
  const token = readFileSync(tokenFile, "utf8").trim()
  const client = createClient(createHttpTransport({ url, token, directory: tmp.path }))
  return { client, end: () => child[Symbol.asyncDispose]() }
}

async function inProcess(tmp: Tmp, variables: Record<string, string>) {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  const transport = createLocalTransport({ directory: tmp.path })
  const end = async () => {
    await transport.close()
    await Instance.disposeAll()
    await Storage.close()
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
  return { client: createClient(transport), end }
}

/** Numbers that differ from run to run; the tokens of texts that have the path of the folder in them. */
const differing = /^(uptime|pid|port|duration|ms|clients|listeners|score|system|conversation|used|free)$/

/** A value without what differs from run to run: ids in the order in which they appear, times, paths and ports. */
export function normal(value: unknown, { tmp, llm }: Pick<World, "tmp" | "llm">): unknown {
  const names = new Map<string, string>()
  const root = tmp.path.replace(/\/project$/, "")
  const text = JSON.stringify(value, (key, item) => {
    if (typeof item === "number" && (item > 1e11 || differing.test(key))) return 0
    return key === "started" || key === "mark" || key === "commit" ? "" : item
  })
  const plain = text
    .replaceAll(root, "/root")
    .replaceAll(llm.url, "http://llm")
    .replace(/\b[0-9a-f]{40,64}\b/g, "hash")
    .replace(/\b[a-z]+_[0-9A-Za-z]{16,}\b/g, (id) => {
      const known = names.get(id) ?? `${id.split("_")[0]}_${names.size + 1}`
      names.set(id, known)
      return known
    })
  return JSON.parse(plain)
}
