// The schemas and events of permission questions and answers, and which answers a question allows.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"
import { isOutside } from "./evaluate.ts"
import { editPermissions, Scope } from "./grant.ts"
import { Rule } from "./rule.ts"

const ShownNeed = z.object({
  permission: about("Permission that is needed, such as `file.edit`.", z.string()),
  target: about("Path, command, URL, `server/tool` or agent.", z.string()),
  rules: z
    .array(Rule)
    .describe('what "always" would allow: a rule for each command of a line; empty if no rule can'),
  fingerprint: z
    .string()
    .optional()
    .describe('for a tool of an MCP server: a hash of its description; "always" ends when that changes'),
  changed: z.literal(true).optional().describe('it was allowed with "always", but has changed since'),
  parts: z
    .array(
      z.object({
        from: about("Where the part begins in `target`, in UTF-16 units.", z.number().int()),
        to: about("Where it ends.", z.number().int()),
        why: about("What is risky about it.", z.string().optional()),
      }),
    )
    .optional()
    .describe(
      "of a command line: the parts that no rule allows; missing if that is the whole line and nothing is risky",
    ),
})
export type ShownNeed = z.infer<typeof ShownNeed>

export const Request = z.object({
  id: about("The question, for `POST /permission/:id/respond`.", z.string()),
  sessionId: z.string(),
  messageId: z.string(),
  callId: z.string(),
  agent: about("Agent that is at work.", z.string().optional()),
  agents: z
    .array(z.string())
    .optional()
    .describe('the agents that "always" would allow it: the one at work, and those that it works for'),
  task: z.string().optional().describe("the task that the agent does for another one"),
  tool: about("Tool that is called.", z.string()),
  needs: z
    .array(ShownNeed)
    .describe("the permissions that are asked for; empty if the question is about something else"),
  protected: z
    .literal(true)
    .optional()
    .describe("it would change files that decide what runs, or it goes through a link out of the workspace"),
  title: z.string().describe("the question in one line"),
  preview: z.string().optional().describe("the change as a unified diff"),
  time: about("When it was asked, in milliseconds since 1970.", z.number()),
  expires: z.number().describe("when it counts as rejected, in milliseconds since 1970"),
})
export type Request = z.infer<typeof Request>

export const Reply = z.enum(["once", "always", "reject"])
export type Reply = z.infer<typeof Reply>
const By = z.enum(["person", "time", "end", "rule", "nobody"])
/** What a person may add to an answer. */
export const Details = z.object({
  message: about("What the person says to the model.", z.string().max(10_000).optional()),
  scope: about("Where `always` holds. Default: the whole project.", Scope.optional()),
  edits: about(
    "`always` then allows all edits of files in the workspace for this session.",
    z.literal(true).optional(),
  ),
  rules: about(
    "What `always` allows instead of the rules that were shown, each as `permission[:pattern]`. They must be for the permissions that were asked for and allow the call; a wildcard may make them wider. Not for protected requests.",
    z.array(z.string().min(1).max(10_000)).min(1).max(50).optional(),
  ),
  expires: about(
    "When `always` ends, in milliseconds since 1970. Default: never.",
    z.number().positive().optional(),
  ),
})
export type Details = z.infer<typeof Details>
export type Answer = Details & { reply: Reply; by: z.infer<typeof By> }

export const Requested = Bus.define("permission.requested", Request, {
  when: "A tool call waits for a person's permission.",
})
export const Replied = Bus.define(
  "permission.replied",
  z.object({
    id: about("The question.", z.string()),
    sessionId: z.string(),
    reply: about("The answer.", Reply),
    by: about(
      "Who answered: a person, the time limit, the end of the prompt, or a rule of another answer; nobody if every listener of an embedding program failed.",
      By,
    ),
    ...Details.shape,
  }),
  { when: "A question about permission was answered." },
)
export const Denied = Bus.define(
  "permission.denied",
  z.object({
    sessionId: z.string(),
    callId: z.string(),
    tool: about("Tool that was called.", z.string()),
    by: about("A rule denied it, or nobody could be asked.", z.enum(["rule", "nobody"])),
    source: z.string().optional().describe("the layer of the rule: default, agent, config, session, mode"),
    needs: about(
      "What was needed. With `by: nobody`, the `rules` of each need would have allowed it; a need without rules needs a person.",
      z.array(ShownNeed),
    ),
    protected: z
      .boolean()
      .describe("--yes does not allow it: it would change what runs, or a link leads out of the workspace"),
  }),
  { when: "A tool call was denied without a question." },
)

/** Whether "always" can be stored: there is a rule for each need. */
export function canBeAlways({ needs }: Pick<Request, "needs">): boolean {
  return needs.length > 0 && needs.every(({ rules }) => rules.length > 0)
}

/** Whether "all edits in this session" would allow it: the files are in the workspace, and none decides what runs. */
export function isEdit({ needs, protected: isProtected }: Pick<Request, "needs" | "protected">): boolean {
  return needs.length > 0 && !isProtected && needs.every((need) => isEditing(need) && !isOutside(need))
}

function isEditing({ permission }: ShownNeed): boolean {
  return editPermissions.includes(permission)
}
