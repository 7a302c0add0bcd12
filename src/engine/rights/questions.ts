// The questions of one prompt to a person: about its calls, and others. The session has the status "waiting" from the first
// open question until the last one is answered.

import { type Judgement, judgeStep } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import type { WhileAsking } from "#ability/tool/tool.ts"
import { keep, type Records } from "#engine/record/append.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import type { Rights, Verdicts } from "./rights.ts"

/** A call of the model and its message; or an attachment, as the call that reads it. */
export type Asked = { request: Message.Info; call: Message.Call }

/** What happens when a person is needed: wait for one, deny, or allow this once. */
export type Asks = "wait" | "deny" | "once"
/** `listeners`: the caller did not choose; ask if something listens for questions, else deny. */
export type Asking = Asks | "listeners"

export type Question = {
  step: Step
  judgement: Judgement
  needs: Permission.ShownNeed[]
  /** The agents to which "always" would allow it. */
  agents: string[]
  /** What the call would change. */
  preview: string | undefined
}

export type Options = {
  session: SessionRecord.Info
  agent: string
  /** The text of the task, if this is one. */
  task?: string | undefined
  rights: Rights
  asks: Asking
  /** How long a person may take, in milliseconds. */
  limit: number
  /** Called when a person is asked, with the question. */
  onAsk?: ((title: string, type?: "elicitation_dialog") => void) | undefined
  records: Records
  signal: AbortSignal
}

export async function questionOf(step: Step, judgement: Judgement, { askers }: Verdicts): Promise<Question> {
  const unclear = judgement.needs.filter(({ action }) => action === "ask")
  const { previewChange } = await import("#ability/file/preview-change.ts")
  return {
    step,
    judgement,
    needs: unclear.map(Permission.showNeed),
    agents: askers(unclear),
    preview: previewChange(step, judgement.reals[0]),
  }
}

/** Stores the grants that an answer gives. */
export async function rememberAnswer(
  rights: Rights,
  asked: Parameters<Rights["remember"]>[0],
  { reply, ...details }: Permission.Answer,
): Promise<void> {
  if (reply === "always") await rights.remember(asked, details)
  else if (reply === "once" && Permission.isOncePerSession(asked.needs))
    await rights.remember(asked, { scope: "session" })
}

/** `parent`: `whileWaiting` of the prompt that gave this task; its session waits for a person too. */
export function createQuestions(options: Options, parent: WhileAsking | undefined) {
  const { session, agent, task, rights, asks, limit, onAsk, records, signal } = options
  const onlyListeners = asks === "listeners"
  let open = 0
  return Object.freeze({ canAsk, ask, confirm, mark, whileWaiting, whileAsking })

  function canAsk(): boolean {
    return asks === "wait" || (onlyListeners && Bus.isHeard(Permission.Requested))
  }

  function ask(asked: Asked, question: Question): Promise<Permission.Answer> {
    const { step, judgement, needs, agents, preview } = question
    const { request, call } = asked
    mark(asked, "pending")
    const title = `Allow ${call.name}: ${needs.map(Permission.sayNeed).join(", ")}?`
    onAsk?.(title)
    return whileWaiting(() =>
      Permission.ask({
        ...placeOf(asked),
        agents,
        needs,
        ...(judgement.needs.some((need) => need.protected) ? { protected: true } : {}),
        preview,
        title,
        remember: (answer) => rememberAnswer(rights, { needs, agents, isAllowedBy }, answer),
        async keep({ reply }) {
          call.approval = reply === "reject" ? "denied" : "approved"
          await MessageStore.write(request)
        },
        isAllowed: async () => isAllowedBy((await rights.now()).decide),
      }),
    )

    async function isAllowedBy(decide: Verdicts["decide"]): Promise<boolean> {
      return (await judgeStep(step, decide)).action === "allow"
    }
  }

  /** For what a tool or its server asks. */
  function whileAsking<T>(...args: Parameters<typeof whileWaiting<T>>): Promise<T> {
    onAsk?.("A tool or its MCP server asks you something.", "elicitation_dialog")
    return whileWaiting(...args)
  }

  async function confirm(asked: Asked, title: string): Promise<boolean> {
    if (!canAsk()) return false
    onAsk?.(title)
    const { reply } = await whileWaiting(() => Permission.ask({ ...placeOf(asked), needs: [], title }))
    return reply !== "reject"
  }

  function placeOf({ request, call }: Asked) {
    const ids = { sessionId: session.id, messageId: request.id, callId: call.id }
    return { ...ids, agent, task, tool: call.name, signal, limit, onlyListeners }
  }

  /** After an abort the call stays as it was: nobody decided. */
  function mark({ request, call }: Asked, approval: Message.Call["approval"]): void {
    if (call.approval === approval || signal.aborted) return
    call.approval = approval
    keep(records, MessageStore.write(request))
  }

  async function whileWaiting<T>(work: (how: { onlyListeners: boolean }) => Promise<T>): Promise<T> {
    if (open++ === 0) setStatus("waiting")
    try {
      return await (parent ? parent(work) : work({ onlyListeners }))
    } finally {
      if (--open === 0 && !signal.aborted) setStatus("busy")
    }
  }

  function setStatus(status: SessionRecord.Status): void {
    keep(
      records,
      SessionRecord.update(session, (draft) => Object.assign(draft, { status })),
    )
  }
}
