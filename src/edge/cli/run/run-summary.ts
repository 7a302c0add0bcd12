// What a run reports at its end: its cost and its changes, tasks included (the status line shows them so far), and what was
// denied, by a rule, by plan mode, or because nobody could be asked.
import { styleText } from "node:util"
import * as Permission from "#ability/permission/permission.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { shortId } from "#edge/cli/session/session-lines.ts"
import { wrapLines } from "#edge/cli/terminal/wrap-text.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { ownCommand } from "#util/own-command.ts"

/** A blank at which no line is broken, so that a command stays on one line. */
const unbroken = "\u00a0"

type Ended = { fallback: string | undefined; isInterrupted: boolean }

export type RunTotals = Readonly<{
  /** `openai/gpt-5 · step 3 · 12 s · 4.2k tokens` */
  status(model: string): string
  /** Session, model if nobody named one, changes, cost and next commands. After an interruption, another line says how
   * to continue. Undefined if the model never answered. */
  closing(sessionId: string, run: Ended): string | undefined
  stop(): void
}>

const maxNamed = 3

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

/** Sets exit code 3 if anything was denied, also if the person rejected it. */
export function listDenied(): { report(): void; stop(): void } {
  const unasked = new Set<string>()
  const byRule = new Set<string>()
  const byMode = new Set<string>()
  let isRejected = false
  const unsubscribe = [
    Bus.subscribe(Permission.Denied, ({ by, source, needs, protected: isProtected }) => {
      const named = needs.map(Permission.sayNeed).join(" and ")
      if (by === "rule") return void (source === "mode" ? byMode : byRule).add(named)
      const judged = needs.map((need) => ({ ...need, ...(isProtected ? { protected: true as const } : {}) }))
      unasked.add(`${named} (${Permission.flagsFor(judged)})`)
    }),
    Bus.subscribe(Permission.Replied, ({ reply, by }) => {
      if (reply === "reject" && (by === "person" || by === "time")) isRejected = true
    }),
  ]

  function report(): void {
    write("denied, since nobody could be asked", unasked)
    write("denied by a rule", byRule)
    write("denied in plan mode, which only reads (--mode act allows changes)", byMode)
    if (unasked.size || byRule.size || byMode.size || isRejected) process.exitCode = exitCodes.denied
  }

  function stop(): void {
    for (const each of unsubscribe) each()
  }

  return Object.freeze({ report, stop })
}

function write(what: string, lines: Set<string>): void {
  if (!lines.size) return
  const more = lines.size > maxNamed ? `, and ${lines.size - maxNamed} more` : ""
  const named = [...lines].slice(0, maxNamed).join(", ")
  process.stderr.write(`${wrapLines(`vitamin: ${what}: ${Log.escapeControls(named)}${more}`)}\n`)
}
