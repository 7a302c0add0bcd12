// Decides what the calls of one prompt may do: by rules, or by asking a person. The message of each call records the
// decision. Before a call runs, the gate asks again if the decision may have changed.

import { type Judgement, judgeStep, keyOf } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import { type Grant, type Refusal, type Step, stepOf } from "#ability/tool/run-tool.ts"
import type { Context, WhileAsking } from "#ability/tool/tool.ts"
import { keep, type Records } from "#engine/record/append.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createWaiting } from "./create-waiting.ts"
import { type Question, questionOf } from "./question-of.ts"
import type { Rights, Verdicts } from "./rights.ts"

type Request = Message.Of<"tool_request">
type Call = Request["data"]["calls"][number]
/** A call of the model and its message; or an attachment, as the call that reads it. */
type Asked = { request: Message.Info; call: Call }

type Judged = { judgement: Judgement; verdicts: Verdicts }

/** What happens when a person is needed: wait for one, deny, or allow this once. */
export type Asks = "wait" | "deny" | "once"
/** `listeners`: the caller did not choose; ask if something listens for questions, else deny. */
type Asking = Asks | "listeners"

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

export function createPermits(options: {
  session: SessionRecord.Info
  agent: string
  /** The text of the task, if this is one. */
  task?: string | undefined
  /** Whether a call may name this tool. Other calls do not run, so nobody is asked about them. */
  mayCall(id: string): boolean
  rights: Rights
  asks: Asking
  /** The parent's, if this is a task. */
  parent: Permits | undefined
  /** How long a person may take, in milliseconds. */
  limit: number
  records: Records
  signal: AbortSignal
}): Permits {
  const { session, agent, rights, asks, parent, limit, records, signal } = options
  const questions = new Map<Call, { key: string; answer: Promise<Permission.Answer> }>()
  /** Judgements made before the message of the calls was written. */
  const judged = new Map<Call, Judged>()
  let waiting: { call: Call; question: Question }[] = []
  const onlyListeners = asks === "listeners"
  const ofParent = parent?.whileWaiting
  const whileWaiting = createWaiting({ session, onlyListeners, parent: ofParent, records, signal })

  async function judge(request: Request): Promise<void> {
    const verdicts = await rights.now()
    judged.clear()
    waiting = []
    for (const call of request.data.calls) {
      const context: Context = { sessionId: session.id, messageId: request.id, callId: call.id, signal }
      // A call that cannot run (unknown tool, broken arguments) is denied; the gate reports the reason.
      const step = await stepOf(call as Step["call"], context).catch(() => undefined)
      const judgement = step && (await judgeStep(step, verdicts.decide).catch(() => undefined))
      if (judgement) judged.set(call, { judgement, verdicts })
      call.approval = judgement && step ? approvalOf(judgement, step) : "denied"
      if (call.approval === "pending")
        waiting.push({ call, question: await questionOf(step!, judgement!, verdicts) })
    }
  }

  function approvalOf({ action, needs }: Judgement, { tool }: Step): Call["approval"] {
    if (action === "deny" || !options.mayCall(tool.id)) return "denied"
    if (action === "allow") return "approved"
    if (canAsk()) return "pending"
    return asks === "once" && !needs.some((need) => need.protected) ? "approved" : "denied"
  }

  function canAsk(): boolean {
    return asks === "wait" || (onlyListeners && Bus.isHeard(Permission.Requested))
  }

  function askPending(request: Request): void {
    for (const { call, question } of waiting) void ask({ request, call }, question)
    waiting = []
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
    if (!unclear.length || (asks === "once" && !unclear.some((need) => need.protected)))
      return { granted, reals: judgement.reals, judge: judgeWith(verdicts) }
    const known = questions.get(asked.call)
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
      const { action, protected: isProtected } = decide(need)
      return action === "ask" && asks === "once" && !isProtected ? "allow" : action
    }
  }

  function byRule(asked: Asked, need: Permission.JudgedNeed): Refusal {
    publishDenied(asked, { by: "rule", needs: [need] })
    return { message: Permission.sayDenied(asked.call.name, need) }
  }

  function nobody(asked: Asked, needs: Permission.JudgedNeed[], { hasFailed = false } = {}): Refusal {
    publishDenied(asked, { by: "nobody", needs })
    return {
      message: Permission.sayNobody(asked.call.name, needs, { isEmbedded: onlyListeners, hasFailed }),
    }
  }

  function publishDenied(
    { call }: Asked,
    { by, needs }: { by: "rule" | "nobody"; needs: Permission.JudgedNeed[] },
  ): void {
    const source = by === "rule" ? needs[0]?.source : undefined
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

  /** The person who is asked sees what it is about. */
  async function askNow(asked: Asked, question: Question): Promise<Permission.Answer> {
    asked.call.approval = "pending"
    await MessageStore.write(asked.request)
    return ask(asked, question)
  }

  function ask(asked: Asked, question: Question): Promise<Permission.Answer> {
    const { step, judgement, needs, agents, preview } = question
    const { request, call } = asked
    mark(asked, "pending")
    const answer = whileWaiting(() =>
      Permission.ask({
        ...place(asked),
        agents,
        needs,
        ...(judgement.needs.some((need) => need.protected) ? { protected: true } : {}),
        preview,
        title: `Allow ${call.name}: ${needs.map(Permission.sayNeed).join(", ")}?`,
        async keep({ reply, ...details }) {
          if (reply === "always") await rights.remember({ needs, agents }, details)
          call.approval = reply === "reject" ? "denied" : "approved"
          await MessageStore.write(request)
        },
        isAllowed: async () => (await judgeStep(step, (await rights.now()).decide)).action === "allow",
      }),
    )
    questions.set(call, { key: judgement.key, answer })
    return answer
  }

  async function confirm(asked: Asked, title: string): Promise<boolean> {
    if (!canAsk()) return false
    const { reply } = await whileWaiting(() => Permission.ask({ ...place(asked), needs: [], title }))
    return reply !== "reject"
  }

  function place({ request, call }: Asked) {
    return {
      sessionId: session.id,
      messageId: request.id,
      callId: call.id,
      agent,
      task: options.task,
      tool: call.name,
      signal,
      limit,
      onlyListeners,
    }
  }

  /** After an abort the call stays as it was: nobody decided. */
  function mark({ request, call }: Asked, approval: Call["approval"]): void {
    if (call.approval === approval || signal.aborted) return
    call.approval = approval
    keep(records, MessageStore.write(request))
  }

  return Object.freeze({ asks, rights, judge, askPending, slot, permit, confirm, whileWaiting })
}

/** Scripts, links and reviews decide about commands and changes, and may change at any time. */
function dependsOnFiles({ needs }: Step): boolean {
  return needs.some(({ permission }) => ["bash.execute", "file.write", "file.edit"].includes(permission))
}
