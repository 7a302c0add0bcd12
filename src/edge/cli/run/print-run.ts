// Prints a run: the answer on stdout and a line per tool call on stderr, or every event as a line of JSON.
import { styleText } from "node:util"
import * as Permission from "#ability/permission/permission.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { shortId } from "#edge/cli/session/session-lines.ts"
import { createScreen } from "#edge/cli/terminal/screen.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"
import { createFollower } from "./follow-run.ts"
import { isFirstUse } from "./is-first-use.ts"
import { createRunTotals } from "./run-totals.ts"

const planMarks = { pending: "[ ]", in_progress: "[>]", done: "[x]" }

/** Print the events of a session until the returned function is called, which also says whether the run was interrupted. */
export function printRun(session: Session.Info, format: "text" | "json"): (isInterrupted: boolean) => void {
  const stop = format === "json" ? printEvents() : printText(session)
  return (isInterrupted) => {
    stop(isInterrupted)
    // The status line must be gone first.
    if (isInterrupted)
      process.stderr.write(
        `vitamin: interrupted; continue: ${ownCommand} run --session ${shortId(session.id)} "…"\n`,
      )
  }
}

function printEvents(): (isInterrupted: boolean) => void {
  return Bus.subscribe("*", (event) => void process.stdout.write(`${JSON.stringify(event)}\n`))
}

function printText(session: Session.Info): (isInterrupted: boolean) => void {
  const totals = createRunTotals()
  let model = session.model ?? ""
  let fallback: string | undefined
  const screen = createScreen(() => totals.status(model))
  const follower = createFollower(session.id, screen)
  const isHere = (id: string) => id === session.id
  const unsubscribe = [
    Bus.subscribe(MessageStore.Delta, (delta) => follower.addDelta(delta)),
    Bus.subscribe(MessageStore.Created, ({ message }) => follower.addMessage(message)),
    Bus.subscribe(MessageStore.Updated, ({ message }) => follower.changeMessage(message)),
    Bus.subscribe(Session.Created, ({ session: created }) => follower.addSession(created)),
    Bus.subscribe(Session.Updated, ({ session: updated }) => {
      if (isHere(updated.id)) model = updated.model ?? model
    }),
    Bus.subscribe(Session.Notice, ({ sessionId, text }) => {
      if (isHere(sessionId)) screen.note(`vitamin: ${Log.escapeControls(text)}`)
    }),
    Bus.subscribe(Session.Retry, (retry) => {
      if (isHere(retry.sessionId)) screen.note(retryLine(retry))
    }),
    Bus.subscribe(TodoList.Updated, ({ sessionId, todos }) => {
      if (isHere(sessionId)) for (const line of planLines(todos)) screen.note(line)
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
  const text = `${provider}: ${reason}; try ${attempt} of ${attempts} in ${(wait / 1000).toFixed(1)} s`
  return `vitamin: ${Log.escapeControls(text)}`
}

/** The plan as a checklist, each time that it changes. */
function planLines(todos: readonly { text: string; status: keyof typeof planMarks }[]): string[] {
  return todos.map(({ text, status }) => {
    const line = `  ${planMarks[status]} ${Log.escapeControls(text)}`
    const format = status === "done" ? "dim" : status === "in_progress" ? "bold" : "reset"
    return styleText(format, line, { stream: process.stderr })
  })
}
