// The schema of a rule on what tools may do.
import { z } from "zod"
import { about } from "#util/about.ts"
import { nearest } from "#util/nearest.ts"
import { fitsText, hasWildcard } from "#util/wildcard.ts"

/** What rules are about. */
export const permissions = [
  "file.read",
  "file.write",
  "file.edit",
  "bash.execute",
  "network.fetch",
  "mcp.call",
  "agent.delegate",
  "tool.execute",
  "todo",
] as const

/** A rule that can never fit would leave open what it should close, so it is refused. */
export const Rule = z
  .strictObject({
    permission: about(
      "Permission that the rule is about; `*` matches any.",
      z.string().check(namesPermission),
    ),
    pattern: about(
      "Path, command, URL, `server/tool` or agent that it is about; `*` matches anything within a path segment, `**` across.",
      z.string().min(1, "the rule has no pattern"),
    ),
    action: about("What happens with a call that fits.", z.enum(["allow", "deny", "ask"])),
  })
  .refine(({ permission, pattern }) => !(permission.startsWith("file.") && /^~(\/|$)/.test(pattern)), {
    path: ["pattern"],
    error: '"~" is not expanded in a pattern; write the whole path',
  })
export type Rule = z.infer<typeof Rule>

function namesPermission({ value, issues }: z.core.ParsePayload<string>): void {
  if (permissions.some((name) => fitsText(value, name))) return
  const near = hasWildcard(value) ? undefined : nearest(value, permissions)
  const hint = near ? `did you mean "${near}"?` : `there are ${permissions.join(", ")}`
  const message = `permission ${JSON.stringify(value)} does not exist; ${hint}`
  issues.push({ code: "custom", message, input: value })
}
