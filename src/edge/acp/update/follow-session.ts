// Reports the events of a session as they happen. A message is published when it is on disk, which may be later than the
// events that follow it; messages are reported in the order of the history.
import type { ClientCapabilities, SessionUpdate } from "@agentclientprotocol/sdk"
import * as Permission from "#ability/permission/permission.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import * as Tool from "#ability/tool/tool.ts"
import { blockedText } from "#client/control-words.ts"
import { createInOrder } from "#client/in-order.ts"
import { firstLine } from "#edge/acp/show/markdown.ts"
import { planEntries } from "#edge/acp/show/plan-entries.ts"
import { questionOf } from "#edge/acp/show/tool-call-of.ts"
import { createUsage } from "#edge/acp/show/usage.ts"
import { withoutSecrets } from "#edge/acp/show/without-secrets.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createTaskFollower } from "./follow-tasks.ts"
import type { CallReporter } from "./report-calls.ts"
import { createMessageReporter } from "./report-messages.ts"
import { createStateReporter } from "./report-state.ts"
import type { OptionChange } from "./session-options.ts"
import type { Send } from "./updates.ts"

/** `flushed` resolves when all option changes so far are reported. */
export type Following = Readonly<{
  flushed(): Promise<void>
  calls: Pick<CallReporter, "isShown" | "showTerminal">
  stop(): void
}>

const maxNotice = 300

/** Sends updates until `stop` is called. Must be called inside the instance of the session's folder. */
export function followSession(options: {
  sessionId: string
  send: Send
  client: ClientCapabilities
  /** Options that the client has set and that are not stored yet. */
  pendingOptions?: () => OptionChange
  /** Prompts that were skipped before the session was opened. */
  skipped?: readonly Session.SkippedPrompt[] | undefined
  /** Also report the prompts of the person. */
  reportsPrompts?: boolean | undefined
}): Following {
  const { sessionId, client, reportsPrompts = false, pendingOptions = () => ({}) } = options
  const { directory } = Instance
  const send = (update: SessionUpdate) => options.send(withoutSecrets(update))
  const reporter = createMessageReporter({ directory, client, send, isReplay: false, reportsPrompts })
  const tasks = createTaskFollower({ sessionId, directory, calls: reporter.calls, send })
  const questions = createQuestionFollower(send)
  const usage = createUsage(send)
  const order = createInOrder()
  const state = createStateReporter({ sessionId, send, pendingOptions })
  let isWorking = false

  function report(message: Message.Info): void {
    reporter.report(message)
    if (message.type === "tool_result") tasks.end(message.data.requestId)
  }

  function reportSkipped({ text, reason }: Session.SkippedPrompt): void {
    if (!client.session?.notices) return
    const title = firstLine(`A prompt was not run, since ${reason}: ${text}`, maxNotice)
    send({ sessionUpdate: "notice", severity: "warning", title })
  }

  const own = <P extends { sessionId: string }>(
    definition: Bus.Definition<P>,
    handler: (payload: P) => void,
  ) =>
    Bus.subscribe(definition, (payload) => {
      if (payload.sessionId === sessionId) handler(payload)
    })

  function notice({ text }: { text: string }): void {
    if (client.session?.notices)
      send({ sessionUpdate: "notice", severity: "info", title: firstLine(text, maxNotice) })
  }

  const stops = [
    own(MessageStore.Delta, ({ messageId, parentId, kind, text }) =>
      order.add({ parentId, show: () => reporter.texts.add(messageId, kind, text) }),
    ),
    Bus.subscribe(MessageStore.Created, ({ message }) => {
      const isOwn = message.sessionId === sessionId
      if (isOwn || tasks.has(message.sessionId)) usage.add(message, { isOwn })
      if (!isOwn) return tasks.add(message)
      const { id, parentId } = message
      order.add({ id, parentId, isFirst: isFirst(message), show: () => report(message) })
    }),
    Bus.subscribe(MessageStore.Updated, ({ message }) => {
      const isOwn = message.sessionId === sessionId
      if (isOwn || tasks.has(message.sessionId)) usage.add(message, { isOwn })
      if (!isOwn) return tasks.change(message)
      const { id, parentId } = message
      if (isRetried(message)) order.add({ parentId, show: () => reporter.texts.markRetry(id) })
    }),
    Bus.subscribe(Tool.Started, (started) => {
      const { messageId, callId } = started
      if (started.sessionId !== sessionId) return tasks.start(started)
      order.add({ parentId: messageId, show: () => reporter.calls.start(callId) })
    }),
    own(Tool.Progress, ({ callId, text }) => reporter.calls.print(callId, text)),
    own(TodoList.Updated, ({ todos }) => send({ sessionUpdate: "plan", entries: planEntries(todos) })),
    own(Session.Compacted, ({ tokensAfter }) => usage.compacted(tokensAfter)),
    own(Session.Notice, notice),
    own(Session.AgentChosen, notice),
    own(Session.Blocked, (blocked) => notice({ text: blockedText(blocked) })),
    own(Session.Skipped, ({ prompt }) => reportSkipped(prompt)),
    Bus.subscribe(Permission.Requested, (request) => {
      if (request.sessionId === sessionId || tasks.has(request.sessionId)) questions.ask(request)
    }),
    Bus.subscribe(Permission.Replied, questions.answer),
    Bus.subscribe(Session.Created, ({ session }) => tasks.begin(session)),
    own(Session.Updated, ({ session }) => {
      isWorking = session.status === "busy" || session.status === "waiting"
      state.change(session)
      usage.settle(session)
    }),
    // At the end of a turn no more messages come, so those that still wait for their predecessor are reported now.
    own(Session.Idle, order.flush),
    own(Session.Failed, () => isWorking || order.flush()),
  ]
  for (const prompt of options.skipped ?? []) reportSkipped(prompt)

  function stop(): void {
    for (const stop of stops) stop()
    state.stop()
    order.flush()
  }

  return Object.freeze({ flushed: state.flushed, calls: reporter.calls, stop })
}

/** Whether a message is reported without waiting for its predecessor: a prompt, or a control message other than a
 * compaction. */
function isFirst(message: Message.Info): boolean {
  if (message.type === "text") return message.data.role === "user"
  return message.type === "system_control" && message.data.control !== "compaction"
}

/** A text that is retried is stored empty until the model answers again. */
function isRetried(message: Message.Info): boolean {
  if (message.type !== "text" || message.data.role !== "assistant") return false
  return message.data.parts.length === 0 && message.data.finish === undefined
}

/** Questions without a tool call: whether a file may be attached, or whether to continue. An editor shows each as a call,
 * which is closed when the question is answered. */
function createQuestionFollower(send: (update: SessionUpdate) => void) {
  const open = new Set<string>()

  function ask(request: Permission.Request): void {
    const { id, callId, messageId, needs } = request
    if (needs.length && callId !== messageId) return
    open.add(id)
    send({ sessionUpdate: "tool_call", ...questionOf(request) })
  }

  function answer({ id, reply }: { id: string; reply: Permission.Reply }): void {
    if (!open.delete(id)) return
    const status = reply === "reject" ? "failed" : "completed"
    send({ sessionUpdate: "tool_call_update", toolCallId: id, status })
  }

  return Object.freeze({ ask, answer })
}
