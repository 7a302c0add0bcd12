// Questions to a person: published, kept until somebody answers, their time is up, or nobody needs the answer any more.
// Who can ask a person listens for them, wherever that is.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { isOutside } from "./evaluate.ts"
import { editPermissions, Scope } from "./grant.ts"
import { Rule } from "./rule.ts"

const ShownNeed = z.object({
  permission: about("Permission that is needed, such as `file.edit`.", z.string()),
  target: about("Path, command, URL, `server/tool` or agent.", z.string()),
  rules: z
    .array(Rule)
    .describe('what "always" would allow, a rule for each command of a line; empty where no rule can'),
  fingerprint: z
    .string()
    .optional()
    .describe('of a server\'s tool: a sum of what it says of itself; "always" ends when that changes'),
  changed: z.literal(true).optional().describe("it was allowed for good, and has changed since"),
  parts: z
    .array(
      z.object({
        from: about("Where the part begins in `target`, in UTF-16 units.", z.number().int()),
        to: about("Where it ends.", z.number().int()),
        why: about("What is risky about it.", z.string().optional()),
      }),
    )
    .optional()
    .describe("of a command line: the parts that no rule allows, if they are not all of it or are risky"),
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
    .describe('whom "always" would allow it: who is at work, and for whom'),
  task: z.string().optional().describe("the task that the agent does for another one"),
  tool: about("Tool that is called.", z.string()),
  needs: z.array(ShownNeed).describe("what is to be allowed; empty where the question is another one"),
  protected: z
    .literal(true)
    .optional()
    .describe("it would change what decides what runs, or a link leads it out of the workspace"),
  title: z.string().describe("the question in one line"),
  preview: z
    .string()
    .optional()
    .describe("what would change: a unified diff; lines with - go, lines with + come"),
  time: about("When it was asked, in milliseconds since 1970.", z.number()),
  expires: z.number().describe("when it counts as rejected, in milliseconds since 1970"),
})
export type Request = z.infer<typeof Request>

export const Reply = z.enum(["once", "always", "reject"])
export type Reply = z.infer<typeof Reply>
const By = z.enum(["person", "time", "end", "rule"])
/** What a person may add to an answer. */
export const Details = z.object({
  message: about("What the person says to the model.", z.string().max(10_000).optional()),
  scope: about("Where `always` counts; without it in the whole project.", Scope.optional()),
  edits: about(
    "`always` then allows all edits of files in the workspace for this session.",
    z.literal(true).optional(),
  ),
  expires: about(
    "When `always` ends, in milliseconds since 1970; without it never.",
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
      "Who answered: a person, the time limit, the end of the prompt, or a rule of another answer.",
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
      "What was needed. With `by: nobody`, their rules would have allowed it; one without rules needs a person.",
      z.array(ShownNeed),
    ),
    protected: z
      .boolean()
      .describe("--yes does not allow it: it would change what runs, or a link leads out of the workspace"),
  }),
  { when: "A tool call was denied without a question." },
)

export type Question = Pick<Request, "sessionId" | "messageId" | "callId" | "tool" | "needs" | "title"> & {
  agent?: string | undefined
  agents?: string[]
  task?: string | undefined
  preview?: string | undefined
  protected?: true
  signal?: AbortSignal
  /** Milliseconds until it counts as rejected; ten minutes where it is left out. */
  limit?: number
  /** Keeps the answer; whoever gave it is told only then that it counts. */
  keep?(answer: Answer): Promise<unknown>
  /** Whether rules that came meanwhile allow it. */
  isAllowed?(): Promise<boolean>
}
type Open = {
  request: Request
  question: Question
  settle(answer: Answer): void
  /** Its time is up. */
  late(): void
  /** An answer is being kept. */
  isTaken?: boolean
}

const usualLimit = 600_000
const onlyOnce =
  "It was allowed once: no rule can allow exactly this for good, so it will be asked for again."
const longestTimer = 2 ** 31 - 1
const open = Instance.state(
  () => new Map<string, Open>(),
  (all) => {
    for (const { settle } of [...all.values()]) settle({ reply: "reject", by: "end" })
  },
)

export class NotFound extends NamedError {
  constructor(id: string) {
    super(
      "Permission.NotFound",
      `Request ${JSON.stringify(id)} does not exist, or was answered already. GET /permission/pending lists what is open.`,
      { id },
    )
  }
}

export class InvalidReply extends NamedError {
  constructor(reply: unknown, reason: string) {
    super("Permission.InvalidReply", `Reply ${JSON.stringify(reply)} cannot be used: ${reason}`, { reply })
  }
}

/** Ask, and wait for the answer. Gives a rejection where none comes in time, or the signal says that it is over. */
export async function ask(question: Question): Promise<Answer> {
  const { signal, limit = usualLimit, keep: _, isAllowed: __, agent, task, preview, ...shown } = question
  if (signal?.aborted) return { reply: "reject", by: "end" }
  const all = open()
  const time = Date.now()
  const id = createId("perm")
  const request: Request = {
    ...shown,
    ...(agent ? { agent } : {}),
    ...(task ? { task } : {}),
    ...(preview ? { preview } : {}),
    id,
    time,
    expires: time + limit,
  }
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const settle = (answer: Answer) => {
    if (!all.delete(id)) return
    Bus.publish(Replied, { id, sessionId: request.sessionId, ...answer })
    resolve(answer)
  }
  const late = () =>
    settle({ reply: "reject", by: "time", message: `nobody answered within ${spoken(limit)}` })
  const one: Open = { request, question, settle, late }
  all.set(id, one)
  const end = () => settle({ reply: "reject", by: "end" })
  signal?.addEventListener("abort", end, { once: true })
  // Who answered in time is not turned down because the disk is slow.
  const timer = setTimeout(() => one.isTaken || late(), Math.min(limit, longestTimer))
  Bus.publish(Requested, request)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", end)
  }
}

/** All that is open, the oldest first. */
export function pending(): Request[] {
  return [...open().values()].map(({ request }) => request)
}

/** Whether there are rules that "always" could be kept as: one for each thing that is needed. */
export function canBeAlways({ needs }: Pick<Request, "needs">): boolean {
  return needs.length > 0 && needs.every(({ rules }) => rules.length > 0)
}

/** Whether "all edits in this session" would allow it: what is edited is in the workspace, and decides nothing that runs. */
export function isEdit({ needs, protected: isProtected }: Pick<Request, "needs" | "protected">): boolean {
  return needs.length > 0 && !isProtected && needs.every((need) => isEditing(need) && !isOutside(need))
}

function isEditing({ permission }: ShownNeed): boolean {
  return editPermissions.includes(permission)
}

/** Answer a request. "always" also answers the others that are allowed by it now; where no rule could say it, it counts
 * as "once", and the notice that comes back says so. */
export async function reply(id: string, reply: Reply, details: Details = {}): Promise<{ notice?: string }> {
  if (!Reply.safeParse(reply).success) throw new InvalidReply(reply, "it is not one of once, always, reject")
  const checked = Details.safeParse(details)
  if (!checked.success)
    throw new InvalidReply(reply, z.prettifyError(checked.error).replace(/\s+/g, " ").trim())
  const one = open().get(id)
  if (!one || one.isTaken) throw new NotFound(id)
  if (details.edits && !(reply === "always" && isEdit(one.request)))
    throw new InvalidReply(reply, "all edits can be allowed only where an edit in the workspace is asked for")
  if (details.edits && (details.scope ?? "session") !== "session")
    throw new InvalidReply(reply, "all edits can be allowed for the session only")
  if (reply === "always" && !canBeAlways(one.request)) {
    const { message } = checked.data
    await answer(one, { ...(message === undefined ? {} : { message }), reply: "once", by: "person" })
    return { notice: onlyOnce }
  }
  await answer(one, { ...checked.data, reply, by: "person" })
  if (reply !== "always") return {}
  for (const other of [...open().values()]) {
    const isAllowed = await other.question.isAllowed?.()
    if (isAllowed && !other.isTaken && open().has(other.request.id))
      await answer(other, { reply: "once", by: "rule" })
  }
  return {}
}

/** What cannot be kept does not count: the request stays open, as long as there is time. */
async function answer(one: Open, given: Answer): Promise<void> {
  one.isTaken = true
  try {
    await one.question.keep?.(given)
  } catch (error) {
    one.isTaken = false
    if (Date.now() >= one.request.expires) one.late()
    throw error
  }
  one.settle(given)
}

function spoken(milliseconds: number): string {
  return milliseconds >= 60_000 ? `${Math.round(milliseconds / 60_000)} minutes` : `${milliseconds / 1000} s`
}
