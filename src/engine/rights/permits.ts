// Decides what the calls of one prompt may do: by rules, or by asking a person. The message of each call records the
// decision. Before a call runs, the gate asks again if the decision may have changed.

import { type Judgement, judgeStep, keyOf } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import { type Grant, type Refusal, type Step, stepOf } from "#ability/tool/run-tool.ts"
import type { Context, WhileAsking } from "#ability/tool/tool.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import {
  type Asked,
  type Asking,
  createQuestions,
  type Options,
  type Question,
  questionOf,
} from "./questions.ts"
import type { Rights, Verdicts } from "./rights.ts"

type Request = Message.Of<"tool_request">
type Call = Message.Call
type Judged = { judgement: Judgement; verdicts: Verdicts }

export type Permits = Readonly<{
  asks: Asking
  rights: Rights
  /** Decides about each call before its message is first written. */
  judge(request: Request): Promise<void>
  /** Asks about all calls that need a person, at once. */
  askPending(request: Request): void
  /** The gate's permission slot for one call. */
  slot(asked: Asked): (step: Step) => Promise<Refusal | Grant | undefined>
  /** The same without a call of the model that records the answer. */
  permit(asked: Asked, step: Step): Promise<Refusal | Grant>
  /** Another question than for a permission. If nobody can be asked, the answer is no. */
  confirm(asked: Asked, title: string): Promise<boolean>
  /** The session, and its parent if it is a task, waits for a person as long as any question is open. */
  whileWaiting: WhileAsking
}>

/** For the context of a call: whether its tool can ask the person something. */
export function whoCanBeAsked({ asks, whileWaiting }: Permits): { whileAsking?: WhileAsking } {
  return asks === "wait" || asks === "listeners" ? { whileAsking: whileWaiting } : {}
}

export function createPermits(
  options: Options & {
    /** Whether a call may name this tool. Other calls do not run, so nobody is asked about them. */
    mayCall(id: string): boolean
    /** The parent's, if this is a task. */
    parent: Permits | undefined
  },
): Permits {
  const { session, rights, asks, parent, signal } = options
  const { canAsk, ask, confirm, mark, whileWaiting } = createQuestions(options, parent?.whileWaiting)
  const answers = new Map<Call, { key: string; answer: Promise<Permission.Answer> }>()
  /** Judgements made before the message of the calls was written. */
  const judged = new Map<Call, Judged>()
  let pending: { call: Call; question: Question }[] = []

  async function judge(request: Request): Promise<void> {
    const verdicts = await rights.now()
    judged.clear()
    pending = []
    // A call that cannot run (unknown tool, broken arguments) is denied; the gate reports the reason.
    for (const call of request.data.calls)
      call.approval = await judgeCall(request, call, verdicts).catch(() => "denied" as const)
  }

  async function judgeCall(request: Request, call: Call, verdicts: Verdicts): Promise<Call["approval"]> {
    const context: Context = { sessionId: session.id, messageId: request.id, callId: call.id, signal }
    const step = await stepOf(call as Step["call"], context)
    const judgement = await judgeStep(step, verdicts.decide)
    judged.set(call, { judgement, verdicts })
    const approval = approvalOf(judgement, step)
    if (approval === "pending") pending.push({ call, question: await questionOf(step, judgement, verdicts) })
    return approval
  }

  function approvalOf({ action, needs }: Judgement, { tool }: Step): Call["approval"] {
    if (action === "deny" || !options.mayCall(tool.id)) return "denied"
    if (action === "allow") return "approved"
    if (canAsk()) return "pending"
    return isOnce(needs) ? "approved" : "denied"
  }

  /** Whether "once" allows what needs a question; it never allows what is protected. */
  function isOnce(needs: readonly { protected?: boolean | undefined }[]): boolean {
    return asks === "once" && !needs.some((need) => need.protected)
  }

  function askPending(request: Request): void {
    for (const { call, question } of pending) void askFirst({ request, call }, question)
    pending = []
  }

  function slot(asked: Asked) {
    return async (step: Step): Promise<Refusal | Grant | undefined> => {
      const verdict = await permit(asked, step)
      mark(asked, "message" in verdict ? "denied" : "approved")
      return verdict
    }
  }

  /** Judges a call again unless it only depends on rules and on where its paths lead, and both are the same. */
  async function judgeNow({ call }: Asked, step: Step): Promise<Judged> {
    const verdicts = await rights.now()
    const before = judged.get(call)
    const isSame =
      before?.verdicts === verdicts && !dependsOnFiles(step) && before.judgement.key === keyOf(step)
    if (isSame) return before
    return { verdicts, judgement: await judgeStep(step, verdicts.decide) }
  }

  async function permit(asked: Asked, step: Step): Promise<Refusal | Grant> {
    const { tool } = step
    const { verdicts, judgement } = await judgeNow(asked, step)
    const { needs, granted } = judgement
    const denied = needs.find(({ action }) => action === "deny")
    if (denied) return byRule(asked, denied)
    const unclear = needs.filter(({ action }) => action === "ask")
    if (!unclear.length || isOnce(unclear))
      return { granted, reals: judgement.reals, judge: judgeWith(verdicts) }
    const known = answers.get(asked.call)
    if (!known && !canAsk()) return nobody(asked, unclear)
    const answer = await (known?.key === judgement.key
      ? known.answer
      : askNow(asked, await questionOf(step, judgement, verdicts)))
    if (answer.by === "nobody") return nobody(asked, unclear, { hasFailed: true })
    if (answer.reply === "reject") return { message: Permission.sayRejected(tool.id, answer) }
    // Links, rules and the mode may have changed while the person decided.
    const verdictsNow = await rights.now()
    const now = await judgeStep(step, verdictsNow.decide)
    if (now.key === judgement.key && now.action !== "deny")
      return { granted: now.grantedByPerson, reals: now.reals, judge: judgeWith(verdictsNow) }
    const deniedNow = now.needs.find(({ action }) => action === "deny")
    if (deniedNow) return byRule(asked, deniedNow)
    return {
      message: `"${tool.id}" was not run: what it would reach changed while it was asked for. Try again.`,
    }
  }

  /** For targets that are known only while the call runs. */
  function judgeWith({ decide }: Verdicts): NonNullable<Grant["judge"]> {
    return (need) => {
      const decision = decide(need)
      return decision.action === "ask" && isOnce([decision]) ? "allow" : decision.action
    }
  }

  function byRule({ call }: Asked, need: Permission.JudgedNeed): Refusal {
    publishDenied(call, { by: "rule", needs: [need], source: need.source })
    return { message: Permission.sayDenied(call.name, need) }
  }

  function nobody({ call }: Asked, needs: Permission.JudgedNeed[], { hasFailed = false } = {}): Refusal {
    publishDenied(call, { by: "nobody", needs })
    const isEmbedded = asks === "listeners"
    return { message: Permission.sayNobody(call.name, needs, { isEmbedded, hasFailed }) }
  }

  function publishDenied(
    call: Call,
    { needs, by, source }: { by: "rule" | "nobody"; needs: Permission.JudgedNeed[]; source?: string },
  ): void {
    Bus.publish(Permission.Denied, {
      sessionId: session.id,
      callId: call.id,
      tool: call.name,
      by,
      ...(source === undefined ? {} : { source }),
      needs: needs.map(Permission.showNeed),
      protected: needs.some((need) => need.protected),
    })
  }

  /** The person who is asked sees the call in its message, so it is stored first. */
  async function askNow(asked: Asked, question: Question): Promise<Permission.Answer> {
    asked.call.approval = "pending"
    await MessageStore.write(asked.request)
    return askFirst(asked, question)
  }

  function askFirst(asked: Asked, question: Question): Promise<Permission.Answer> {
    const answer = ask(asked, question)
    answers.set(asked.call, { key: question.judgement.key, answer })
    return answer
  }

  return Object.freeze({ asks, rights, judge, askPending, slot, permit, confirm, whileWaiting })
}

/** Scripts, links and reviews decide about commands and changes, and may change at any time. */
function dependsOnFiles({ needs }: Step): boolean {
  return needs.some(({ permission }) => ["bash.execute", "file.write", "file.edit"].includes(permission))
}
