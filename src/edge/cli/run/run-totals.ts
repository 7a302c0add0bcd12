// Cost and changes of a run so far, tasks included, for the status line and the closing line.
import { styleText } from "node:util"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { shortId } from "#edge/cli/session/session-lines.ts"
import { wrapLines } from "#edge/cli/terminal/wrap-text.ts"
import * as Bus from "#kernel/bus/bus.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"

/** A blank at which no line is broken, so that a command stays on one line. */
const unbroken = "\u00a0"

type Ended = { fallback: string | undefined; isInterrupted: boolean }

export type RunTotals = Readonly<{
  /** `openai/gpt-5 · step 3 · 12 s · 4.2k tokens` */
  status(model: string): string
  /** Session, model if nobody named one, changes, cost and next commands. How to continue is left out if the run was
   * interrupted: the line about that says it. Undefined if the model never answered. */
  closing(sessionId: string, run: Ended): string | undefined
  stop(): void
}>

export function createRunTotals(): RunTotals {
  const started = performance.now()
  const files = new Set<string>()
  /** Messages of this run without usage: a streaming answer gets it at its end. */
  const open = new Set<string>()
  let [steps, tokens, cost] = [0, 0, 0]

  function count({ id, usage }: Message.Info): void {
    if (!usage) return void open.add(id)
    open.delete(id)
    steps++
    tokens += (usage.input ?? 0) + (usage.output ?? 0)
    cost += usage.cost ?? 0
  }

  const unsubscribe = [
    Bus.subscribe(MessageStore.Created, ({ message }) => count(message)),
    Bus.subscribe(MessageStore.Updated, ({ message }) => {
      if (open.has(message.id)) count(message)
    }),
    Bus.subscribe(Snapshot.Created, ({ files: changed }) => {
      for (const file of changed) files.add(file)
    }),
  ]

  function seconds(): string {
    const passed = Math.round((performance.now() - started) / 1000)
    return passed < 60 ? `${passed} s` : `${Math.floor(passed / 60)} min ${passed % 60} s`
  }

  function status(model: string): string {
    // In a narrow terminal, progress matters more than the name of the model.
    const named = (process.stderr.columns || 80) < 60 ? [] : [model]
    const parts = [...named, `step ${steps + 1}`, seconds(), ...(tokens ? [`${short(tokens)} tokens`] : [])]
    return parts.join(" · ")
  }

  function closing(sessionId: string, { fallback, isInterrupted }: Ended): string | undefined {
    if (!steps) return undefined
    const id = shortId(sessionId)
    const parts = [
      id,
      ...(fallback === undefined ? [] : [fallback]),
      ...(files.size ? [`${files.size} ${files.size === 1 ? "file" : "files"} changed`] : []),
      ...(tokens ? [`${short(tokens)} tokens`] : []),
      ...(cost ? [`$${cost.toFixed(4)}`] : []),
      seconds(),
      ...(files.size ? [`undo: ${ownCommand} session revert ${id}`] : []),
      ...(isInterrupted ? [] : [`continue: ${ownCommand} -c "…"`]),
    ]
    const whole = parts.map((part) => part.replaceAll(" ", unbroken)).join(" · ")
    const lines = wrapLines(whole).replaceAll(unbroken, " ")
    return styleText("dim", lines, { stream: process.stderr })
  }

  function stop(): void {
    for (const each of unsubscribe) each()
  }

  return Object.freeze({ status, closing, stop })
}

function short(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`
}
