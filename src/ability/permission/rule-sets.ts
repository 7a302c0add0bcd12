// Rule sets that are built in: what holds where nobody has said anything, and what plan mode takes away.
import type { Rule } from "./rule.ts"

/** Reading in the workspace, and the list of things to do. All else asks. */
export const defaults: readonly Rule[] = [
  { permission: "file.read", pattern: "**", action: "allow" },
  { permission: "todo", pattern: "*", action: "allow" },
]

/** Looking, planning and delegating stay as they are; whatever changes something is denied. */
export const planner: readonly Rule[] = [
  { permission: "file.write", pattern: "*", action: "deny" },
  { permission: "file.edit", pattern: "*", action: "deny" },
  { permission: "bash.execute", pattern: "*", action: "deny" },
  { permission: "mcp.call", pattern: "*", action: "deny" },
  { permission: "tool.execute", pattern: "*", action: "deny" },
]
