// Questions to a person: published, and open until somebody answers, the time is up, or the answer is no longer
// needed. Any edge can subscribe to them and answer.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import {
  type Answer,
  canBeAlways,
  Details,
  isEdit,
  Replied,
  Reply,
  type Request,
  Requested,
} from "./request-schema.ts"
import { parseRule, type Rule } from "./rule.ts"

export type Question = Pick<Request, "sessionId" | "messageId" | "callId" | "tool" | "needs" | "title"> & {
  agent?: string | undefined
  agents?: string[]
  task?: string | undefined
  preview?: string | undefined
  protected?: true
  signal?: AbortSignal
  /** Milliseconds after which it counts as rejected; default: ten minutes. */
  limit?: number
  /** Rejected at once if no subscriber of `Requested` takes it. */
  onlyListeners?: boolean
  /** Stores the grants of the answer, then the answer itself. The reply is confirmed to the person only after that. */
  remember?(answer: Answer): Promise<unknown>
  keep?(answer: Answer): Promise<unknown>
  /** Whether rules that were added meanwhile allow it. */
  isAllowed?(): Promise<boolean>
}
/** Asks the person of another process, which stores the grants of the answer. */
export type Asker = (question: Question) => Promise<Answer>
type Open = {
  request: Request
  question: Question
  settle(answer: Answer): void
  /** Called when its time is up. */
  late(): void
  /** An answer is being stored. */
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

const elsewhere = Instance.state((): { ask?: Asker } => ({}))

/** Ask all questions of this instance through another process. */
export function useAsker(ask: Asker): void {
  elsewhere().ask = ask
}

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

/** Ask, and wait for the answer. Resolves with a rejection if none comes in time or the signal aborts. */
export async function ask(question: Question): Promise<Answer> {
  const {
    signal,
    limit = usualLimit,
    onlyListeners,
    remember: _,
    keep: __,
    isAllowed: ___,
    ...said
  } = question
  const { agent, task, preview, ...shown } = said
  if (signal?.aborted) return { reply: "reject", by: "end" }
  const asker = elsewhere().ask
  if (asker) {
    const answer = await asker(question)
    if (answer.by === "person" || answer.by === "rule") await question.keep?.(answer)
    return answer
  }
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
  // An answer in time counts, even if the disk is slow.
  const timer = setTimeout(() => one.isTaken || late(), Math.min(limit, longestTimer))
  // A listener may fail after it has answered.
  const unheard = () => void (one.isTaken || settle({ reply: "reject", by: "nobody" }))
  Bus.publish(Requested, request, onlyListeners ? unheard : undefined)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", end)
  }
}

/** All open questions, the oldest first. */
export function pending(): Request[] {
  return [...open().values()].map(({ request }) => request)
}

/** Answer a question. "always" also answers other questions that it allows; if no rule can express it, it counts as
 * "once", and the returned notice says so. */
export async function reply(id: string, reply: Reply, details: Details = {}): Promise<{ notice?: string }> {
  if (!Reply.safeParse(reply).success) throw new InvalidReply(reply, "it is not one of once, always, reject")
  const checked = Details.safeParse(details)
  if (!checked.success)
    throw new InvalidReply(reply, z.prettifyError(checked.error).replace(/\s+/g, " ").trim())
  const one = open().get(id)
  if (!one || one.isTaken) throw new NotFound(id)
  if (details.edits && !(reply === "always" && isEdit(one.request)))
    throw new InvalidReply(
      reply,
      "all edits can be allowed only if the question is about an edit in the workspace",
    )
  if (details.edits && (details.scope ?? "session") !== "session")
    throw new InvalidReply(reply, "all edits can be allowed for the session only")
  if (details.rules) writtenRules(one.request, reply, details)
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

/** The rules that a person wrote for "always". They may be wider than what was asked for, but not of another kind, and
 * never about what decides what runs. Whether they allow the call is checked where all rules are known. */
export function writtenRules(
  { needs, protected: isProtected }: Pick<Request, "needs" | "protected">,
  reply: Reply,
  { rules = [], edits }: Details,
): Rule[] {
  if (reply !== "always" || edits) throw new InvalidReply(reply, 'rules belong to "always", without edits')
  if (isProtected)
    throw new InvalidReply(reply, "this can be allowed only as it was asked for, not by another rule")
  const asked = [...new Set(needs.map(({ permission }) => permission))]
  return rules.map((text) => {
    const rule = parseRule(text)
    if (!asked.includes(rule.permission))
      throw new InvalidReply(
        reply,
        `the rule ${JSON.stringify(text)} is not about what was asked for: ${asked.join(", ") || "nothing that a rule can allow"}`,
      )
    return rule
  })
}

/** An answer that cannot be stored does not count: the question stays open until its time is up. */
async function answer(one: Open, given: Answer): Promise<void> {
  one.isTaken = true
  try {
    await one.question.remember?.(given)
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
