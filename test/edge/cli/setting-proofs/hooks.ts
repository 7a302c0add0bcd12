// Proofs of the hooks: what `vitamin run` reports that they did, with the key and without it.
import { call, text } from "../../../fixture/fake-llm.ts"
import { reachable } from "./models.ts"
import { Code, type Proof } from "./proof.ts"

const settings = {
  hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "echo of another agent" }] }] },
}
const block = new Code(`() => ({ decision: "block", reason: "not now" })`)
export const hookProofs: Record<string, Proof> = {
  "hooks.otherAgents": {
    config: (world) => ({ ...reachable(world), hooks: { otherAgents: true } }),
    prepare: ({ tmp }) => void tmp.write(".claude/settings.json", JSON.stringify(settings)),
    commands: [["run", "--trust", "go"]],
    seen: (_, { err }) => /added context: of another agent/.test(err),
    expected: true,
  },
  "hooks.on": {
    config: (world) => ({
      ...reachable(world),
      hooks: { on: { PreToolUse: [{ matcher: "LS", hooks: [block] }] } },
    }),
    model: [call("ls"), text("Done.")],
    commands: [["run", "go"]],
    seen: (_, { err }) => /blocked ls: not now/.test(err),
    expected: true,
  },
}
