// Proofs of the keys of the sandbox: a command of the model, and what it could do.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { call, text } from "../../../fixture/fake-llm.ts"
import { reachable } from "./models.ts"
import type { Proof, World } from "./proof.ts"

const commands = [["run", "--yes", "go"]]
const inSandbox = (world: World, security: object = {}) => ({
  ...reachable(world),
  bash: { sandbox: true },
  adapters: { sandbox: { security } },
})
/** Not in the folder for temporary files, which is another one inside. Each run has its own. */
const folderOf = ({ tmp }: World) => join("/var/tmp", basename(dirname(tmp.path)))

const eat = `node -e 'const all = Buffer.alloc(200 << 20, 1); setTimeout(() => console.log("ate", all.length), 1500)'`

export const sandboxProofs: Record<string, Proof> = {
  "bash.sandbox": {
    config: (world) => inSandbox(world),
    model: [call("bash", { command: "echo [$(wc -l </proc/net/dev)]" }), text("Done.")],
    commands,
    // Two lines of a header, and loopback.
    seen: ({ llm }) => /\[3\]/.test(llm.requests[1]?.raw ?? ""),
    expected: true,
  },
  "adapters.sandbox.security.allowWrite": {
    config: (world) => inSandbox(world, { allowWrite: [folderOf(world)] }),
    prepare: (world) => {
      mkdirSync(folderOf(world))
      world.llm.push(call("bash", { command: `echo x >${folderOf(world)}/new.txt` }), text("Done."))
    },
    model: [],
    commands,
    seen: (world) => {
      const isWritten = existsSync(join(folderOf(world), "new.txt"))
      rmSync(folderOf(world), { recursive: true })
      return isWritten
    },
    expected: true,
  },
  "adapters.sandbox.security.denyRead": {
    config: (world) => inSandbox(world, { denyRead: [folderOf(world)] }),
    prepare: (world) => {
      mkdirSync(folderOf(world))
      writeFileSync(join(folderOf(world), "config"), "cluster-secret\n")
      world.llm.push(call("bash", { command: `cat ${folderOf(world)}/config` }), text("Done."))
    },
    model: [],
    commands,
    seen: (world) => {
      rmSync(folderOf(world), { recursive: true })
      return /cluster-secret/.test(world.llm.requests[1]?.raw ?? "")
    },
    expected: false,
  },
  "adapters.sandbox.security.allowedDomains": {
    config: (world) => inSandbox(world, { allowedDomains: [new URL(world.web.url).host] }),
    prepare: ({ llm, web }) =>
      llm.push(
        call("bash", { command: `node -e 'fetch("${web.url}/page").catch(() => {})'` }),
        text("Done."),
      ),
    model: [],
    commands,
    seen: ({ web }) => web.requests.some(({ path }) => path === "/page"),
    expected: true,
  },
  "adapters.sandbox.enabled": {
    ...inside("cat /proc/1/comm"),
    commands,
    seen: ({ llm }) => /bwrap/.test(llm.requests[1]?.raw ?? ""),
    expected: true,
  },
  "adapters.sandbox.limits.memory": {
    ...inside(eat, { memory: 192 << 20 }),
    seen: ({ llm }) => /ate 209715200/.test(llm.requests[1]?.raw ?? ""),
    expected: false,
  },
  "adapters.sandbox.limits.processes": {
    ...inside("for ((i = 0; i < 200; i++)); do sleep 3 & done; wait; echo all-$i", { processes: 100 }),
    seen: ({ llm }) => /all-200/.test(llm.requests[1]?.raw ?? ""),
    expected: false,
  },
  "adapters.sandbox.limits.timeout": {
    ...inside("sleep 8", { timeout: 3_000 }),
    seen: (_, { err }) => /the limit of the sandbox/.test(err),
    expected: true,
  },
}

/** The whole agent in the sandbox. */
function inside(command: string, limits?: object) {
  return {
    config: (world: World) => ({
      ...reachable(world),
      adapters: { sandbox: { enabled: true, ...(limits ? { limits } : {}) } },
    }),
    model: [call("bash", { command }), text("Done.")],
    commands: [["run", "go"]],
  }
}
