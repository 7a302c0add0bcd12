// Prints a run: the answer on stdout and a line per tool call on stderr, or every event as a line of JSON.
import { styleText } from "node:util"
import { parseReject } from "#ability/agent/specialists.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { blockedText } from "#client/control-words.ts"
import { createInOrder } from "#client/in-order.ts"
import { shortId } from "#edge/cli/session/session-lines.ts"
import { callLine, describeAttachment } from "#edge/cli/terminal/message-line.ts"
import { createScreen, type Screen } from "#edge/cli/terminal/screen.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"
import { shorten } from "#util/plain-text.ts"
import { isFirstUse } from "./is-first-use.ts"
import { type Outcome, printLines } from "./run-lines.ts"
import { createRunTotals } from "./run-summary.ts"

const planMarks = { pending: "[ ]", in_progress: "[>]", done: "[x]" }

type Todo = { id?: string | undefined; text: string; status: keyof typeof planMarks }
type Task = { depth: number; order: ReturnType<typeof createInOrder> }
type Delta = { sessionId: string; kind: string; parentId?: string | null | undefined; text: string }

const maxTask = 200

/** Print the events of a session until `stop` is called; `end` prints how the run ended. `isValue`: stdout gets only the
 * value of the final answer. */
export function printRun(
  session: Session.Info,
  { format, isValue }: { format: "text" | "json"; isValue: boolean },
): { stop(isInterrupted: boolean): void; end(outcome: Outcome): void } {
  const lines = format === "json" ? printLines(session) : undefined
  const stop = lines?.stop ?? printText(session, { isValue })
  return {
    stop(isInterrupted) {
      stop(isInterrupted)
      // The status line must be gone first.
      if (isInterrupted)
        process.stderr.write(
          `vitamin: interrupted; continue: ${ownCommand} run --session ${shortId(session.id)} "…"\n`,
        )
    },
    end(outcome) {
      if (lines) lines.end(outcome)
      else if (outcome.output !== undefined)
        process.stdout.write(`${Secret.redactJson(JSON.stringify(outcome.output))}\n`)
    },
  }
}

function printText(
  session: Session.Info,
  { isValue }: { isValue: boolean },
): (isInterrupted: boolean) => void {
  const totals = createRunTotals()
  let model = session.model ?? ""
  let fallback: string | undefined
  const screen = createScreen(() => totals.status(model))
  const follower = createFollower(session.id, screen, { isValue })
  const isHere = (id: string) => id === session.id
  const tell = ({ sessionId, text }: { sessionId: string; text: string }) => {
    if (isHere(sessionId)) screen.note(`vitamin: ${Log.escapeControls(text)}`)
  }
  const unsubscribe = [
    Bus.subscribe(MessageStore.Delta, (delta) => follower.addDelta(delta)),
    Bus.subscribe(MessageStore.Created, ({ message }) => follower.addMessage(message)),
    Bus.subscribe(MessageStore.Updated, ({ message }) => follower.changeMessage(message)),
    Bus.subscribe(Session.Created, ({ session: created }) => follower.addSession(created)),
    Bus.subscribe(Session.Updated, ({ session: updated }) => {
      if (isHere(updated.id)) model = updated.model ?? model
    }),
    Bus.subscribe(Session.Notice, tell),
    Bus.subscribe(Session.AgentChosen, (chosen) => {
      if (isHere(chosen.sessionId)) follower.expectRejections()
      tell(chosen)
    }),
    Bus.subscribe(Session.Blocked, ({ sessionId, ...blocked }) =>
      tell({ sessionId, text: blockedText(blocked) }),
    ),
    Bus.subscribe(Session.Retry, (retry) => {
      if (isHere(retry.sessionId)) screen.note(retryLine(retry))
    }),
    Bus.subscribe(TodoList.Updated, ({ sessionId, todos }) => {
      if (isHere(sessionId)) for (const line of follower.changePlan(todos)) screen.note(line)
    }),
    Bus.subscribe(Session.ModelChosen, ({ model: chosen, text }) => {
      model = chosen
      if (fallback !== chosen && isFirstUse(chosen)) screen.note(`vitamin: ${Log.escapeControls(text)}`)
      fallback = chosen
    }),
    Bus.subscribe(Permission.Requested, screen.endLine),
    // Subscribed by name: without MCP servers, the code for their questions is not loaded.
    Bus.subscribe("*", ({ type }) => {
      if (type === "elicitation.requested") screen.endLine()
    }),
  ]
  return (isInterrupted) => {
    for (const each of unsubscribe) each()
    follower.flush()
    screen.stop()
    totals.stop()
    const closing = process.stderr.isTTY ? totals.closing(session.id, { fallback, isInterrupted }) : undefined
    if (closing) process.stderr.write(`${closing}\n`)
  }
}

/** `vitamin: openai: 503 (overloaded); try 2 of 6 in 0.4 s` */
function retryLine(retry: {
  provider: string
  reason: string
  wait: number
  attempt: number
  attempts: number
}): string {
  const { provider, reason, wait, attempt, attempts } = retry
  const text = `${provider}: ${reason.replace(/\.$/, "")}; try ${attempt} of ${attempts} in ${(wait / 1000).toFixed(1)} s`
  return `vitamin: ${Log.escapeControls(text)}`
}

/** The plan as a checklist. */
function planLines(todos: readonly Todo[]): string[] {
  return todos.map(({ text, status }) => {
    const line = `  ${planMarks[status]} ${Log.escapeControls(text)}`
    const format = status === "done" ? "dim" : status === "in_progress" ? "bold" : "reset"
    return styleText(format, line, { stream: process.stderr })
  })
}

/** Shows the messages of a run in the order of the conversation: the answer as it arrives, a line per tool call, and those
 * of tasks indented below the call that started them. */
function createFollower(sessionId: string, screen: Screen, { isValue }: { isValue: boolean }) {
  const tasks = new Map<string, Task>([[sessionId, { depth: 0, order: createInOrder() }]])
  const calls = new Map<string, Message.Call>()
  const attachments = new Map<string, string>()
  let plan: readonly Todo[] = []
  let isAuto = false

  /** The agent was chosen by code. If it rejects the prompt, another one gives the answer. */
  function expectRejections(): void {
    isAuto = true
  }

  function addDelta({ sessionId: id, kind, parentId, text }: Delta): void {
    if (id !== sessionId || kind !== "text" || !screen.isLive || isValue) return
    tasks.get(id)!.order.add({ parentId, show: () => screen.say(text) })
  }

  function addMessage(message: Message.Info): void {
    const task = tasks.get(message.sessionId)
    if (!task) return
    if (message.type === "tool_request") for (const call of message.data.calls) calls.set(call.id, call)
    task.order.add({
      id: message.id,
      parentId: message.parentId,
      isFirst: message.type === "text" && message.data.role === "user",
      show: () => show(message, task.depth),
    })
  }

  function show(message: Message.Info, depth: number): void {
    const indent = "  ".repeat(depth)
    if (message.type === "tool_result") {
      const call = calls.get(message.data.requestId)
      screen.note(indent + callLine(call, message.data, (process.stderr.columns || 100) - indent.length))
    }
    if (depth > 0) return
    if (message.type === "system_control") screen.note(`· ${Session.describeControl(message.data)}`)
    if (message.type === "text") showAnswer(message)
    showAttachment(message)
  }

  /** A pipe gets only complete answers, so that a retried answer is printed once. */
  function showAnswer(message: Message.Of<"text">): void {
    if (screen.isLive || message.data.role !== "assistant" || isValue) return
    const text = Message.textOf(message)
    if (isAuto && parseReject(text)) screen.note(Log.escapeControls(text))
    else {
      screen.say(text)
      screen.endLine()
    }
  }

  function showAttachment(message: Message.Info): void {
    const line = describeAttachment(message)
    if (line && attachments.get(message.id) !== line) screen.note(line)
    if (line) attachments.set(message.id, line)
  }

  /** Shows an attachment that has been resolved, or notes that an answer is retried. */
  function changeMessage(message: Message.Info): void {
    if (message.sessionId !== sessionId) return
    showAttachment(message)
    if (message.type !== "text" || message.data.parts.length > 0) return
    const show = () => screen.note("✗ the answer broke off and is requested again")
    tasks.get(sessionId)!.order.add({ parentId: message.parentId, show })
  }

  /** Notes that another agent starts a task. */
  function addSession({ id, agent, taskOf }: Session.Info): void {
    const parent = taskOf && tasks.get(taskOf.sessionId)
    if (!taskOf || !parent) return
    tasks.set(id, { depth: parent.depth + 1, order: createInOrder() })
    const given = calls.get(taskOf.callId)?.arguments as { task?: unknown } | undefined
    const step = plan.find((todo) => todo.id !== undefined && todo.id === taskOf.step)
    const text = step?.text.replace(/^\[[\w.-]+\] /, "") ?? given?.task
    const task = typeof text === "string" ? shorten(text.trim().split("\n", 1)[0]!, maxTask) : ""
    screen.note(`${"  ".repeat(parent.depth)}↳ ${Log.escapeControls(`${agent}${task ? `: ${task}` : ""}`)}`)
  }

  /** The lines of a plan: a new one as a whole, later only what has changed. */
  function changePlan(todos: readonly Todo[]): string[] {
    const before = new Set(plan.map(({ text, status }) => `${status} ${text}`))
    const isNew = !todos.some(({ text }) => plan.some((todo) => todo.text === text))
    plan = todos
    return planLines(isNew ? todos : todos.filter(({ text, status }) => !before.has(`${status} ${text}`)))
  }

  function flush(): void {
    for (const { order } of tasks.values()) order.flush()
  }

  return Object.freeze({
    expectRejections,
    addDelta,
    addMessage,
    changeMessage,
    addSession,
    changePlan,
    flush,
  })
}
