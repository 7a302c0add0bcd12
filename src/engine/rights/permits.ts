// Decides which calls of a prompt may run: by rules, or by asking a person. The message of a call records the decision.
// Right before a call runs, it is judged again if the result may have changed.

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
  /** Judges all calls of a message before it is first written. */
  judge(request: Request): Promise<void>
  /** Asks about all calls that need a person, without waiting for one answer after the other. */
  askPending(request: Request): void
  /** The gate's permission slot for one call. */
  slot(asked: Asked): (step: Step) => Promise<Refusal | Grant | undefined>
  /** The same for something that the model did not call, such as an attachment: no message records the answer. */
  permit(asked: Asked, step: Step): Promise<Refusal | Grant>
  /** Asks a yes-or-no question that is not about a permission. The answer is no if nobody can be asked. */
  confirm(asked: Asked, title: string): Promise<boolean>
  /** Marks the session, and its parent if it is a task, as waiting for a person while a question is open. */
  whileWaiting: WhileAsking
  /** The same for what a tool or its server asks: hooks are told. */
  whileAsking: WhileAsking
}>

/** For the context of a call: `whileAsking` is set if its tool can ask the person something. */
export function whoCanBeAsked({ asks, whileAsking }: Permits): { whileAsking?: WhileAsking } {
  return asks === "wait" || asks === "listeners" ? { whileAsking } : {}
}

export function createPermits(
  options: Options & {
    /** Whether calls of this tool run at all. Nobody is asked about calls that do not. */
    mayCall(id: string): boolean
    /** The permits of the parent session, if this is a task. */
    parent: Permits | undefined
  },
): Permits {
  const { session, rights, asks, parent, signal } = options
  const { canAsk, ask, confirm, mark, whileWaiting, whileAsking } = createQuestions(
    options,
    parent?.whileWaiting,
  )
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

  /** Whether the mode "once" answers these questions with yes. It never does so for anything that is protected. */
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

  /** Judges a call. The earlier judgement is reused if the rules and the real paths are the same, and the call depends on
   * nothing else. */
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
      message: `"${tool.id}" was not run: its real paths or the rules changed while the person was asked. Try again.`,
    }
  }

  /** Judges targets that become known only while the call runs. */
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

  /** Stores the message first, because the person who is asked sees the call in it. */
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

  return Object.freeze({ asks, rights, judge, askPending, slot, permit, confirm, whileWaiting, whileAsking })
}

/** Whether the judgement also depends on files that may change at any time: scripts, links and reviews. */
function dependsOnFiles({ needs }: Step): boolean {
  return needs.some(({ permission }) => ["bash.execute", "file.write", "file.edit"].includes(permission))
}
