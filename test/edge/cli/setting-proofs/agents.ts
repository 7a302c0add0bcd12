// Proofs of the keys about agents and their rights.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, text } from "../../../fixture/fake-llm.ts"
import { reachable } from "./models.ts"
import type { Proof, World } from "./proof.ts"

const rule = { permission: "file.read", pattern: "README.md", action: "deny" }
const denying: Omit<Extract<Proof, { seen: unknown }>, "other"> = {
  config: (world) => ({ ...reachable(world), permission: [rule] }),
  model: [call("read", { path: "README.md" }), text("Done.")],
  seen: ({ llm }) => /# fixture/.test(llm.requests[1]?.raw ?? ""),
  expected: false,
}

const routing: Omit<Extract<Proof, { seen: unknown }>, "other"> = {
  config: (world) => ({
    ...reachable(world),
    agent: { name: "auto", rules: [{ match: "poem|verse", agent: "librarian" }] },
  }),
  commands: [["run", "a poem"]],
  seen: ({ llm }) => /You are the librarian/.test(llm.requests[0]?.system ?? ""),
  expected: true,
}

const remote = (world: World) => ({
  ...reachable(world),
  a2a: { helper: { url: world.web.url, token: "of-the-person", description: "Helps with poems." } },
})

export const agentProofs: Record<string, Proof> = {
  "a2a.*.url": {
    config: remote,
    commands: [["a2a", "show", "helper"]],
    other: "http://127.0.0.1:1",
    seen: ({ web }) => web.requests.map(({ path }) => path),
    expected: ["/.well-known/agent-card.json"],
  },
  "a2a.*.token": {
    config: remote,
    commands: [["a2a", "show", "helper"]],
    seen: ({ web }) => web.requests[0]?.headers.authorization,
    expected: "Bearer of-the-person",
  },
  "a2a.*.description": {
    config: remote,
    commands: [["agent", "list"]],
    seen: (_, { out }) => /Helps with poems\./.test(out),
    expected: true,
  },
  "permission[].permission": { ...denying, other: "file.write" },
  "permission[].pattern": { ...denying, other: "other.md" },
  "permission[].action": { ...denying, other: "allow" },
  "agent.name": {
    config: (world) => ({ ...reachable(world), agent: { name: "poet" } }),
    prepare: ({ tmp }: World) => {
      const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin", "agents")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "poet.md"), "---\ndomain: poems\n---\nAnswer in verse.\n")
    },
    seen: ({ llm }) => /Answer in verse/.test(llm.requests[0]?.system ?? ""),
    expected: true,
  },
  "agent.model": {
    config: (world) => ({ ...reachable(world), agent: { model: "mine/of-the-agent" } }),
    seen: ({ llm }) => llm.requests[0]?.model,
    expected: "of-the-agent",
  },
  "agent.rules[].match": { ...routing, other: "sonnet" },
  "agent.rules[].agent": { ...routing, other: "chronicler" },
}
