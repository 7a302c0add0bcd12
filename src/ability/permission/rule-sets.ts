// The built-in rule sets: the defaults, and the restrictions of plan mode.
import type { Rule } from "./rule.ts"

/** Reading in the workspace and the task list are allowed; everything else asks. */
export const defaults: readonly Rule[] = [
  { permission: "file.read", pattern: "**", action: "allow" },
  { permission: "todo", pattern: "*", action: "allow" },
]

/** Reading, planning and delegating stay allowed; everything that changes something is denied. In plan mode, git commands
 * that only read are not (shell/judge-command.ts). */
export const planner: readonly Rule[] = [
  { permission: "file.write", pattern: "*", action: "deny" },
  { permission: "file.edit", pattern: "*", action: "deny" },
  { permission: "bash.execute", pattern: "*", action: "deny" },
  { permission: "mcp.call", pattern: "*", action: "deny" },
  { permission: "tool.execute", pattern: "*", action: "deny" },
]
