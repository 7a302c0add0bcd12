// `vitamin guard explain` and `vitamin guard simulate`: what guards blocked in a session, and what others would have blocked.
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { directoryOf, type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { findSession } from "#edge/cli/session/find-session.ts"
import { localTime } from "#edge/cli/session/session-lines.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Session from "#engine/session/session.ts"
import { loadGuards, readGuards } from "#engine/symbolic/load-guards.ts"
import { type Replayed, replayGuards, simulateGuards } from "#engine/symbolic/replay-guards.ts"
import * as Log from "#kernel/process/log.ts"
import { drawTimeline } from "./draw-timeline.ts"

type Options = FolderOptions & {
  session?: string | undefined
  format: "text" | "json"
  svg?: string | undefined
}

export async function explainSession(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.session)
    const events = replayGuards(await Session.messages(id))
    const blocks = events.filter(({ blocked }) => blocked.length)
    if (options.svg !== undefined) draw(options, id, events)
    if (options.format === "json") return print(JSON.stringify({ session: id, events }, null, 2))
    for (const { time, event, blocked } of blocks)
      for (const { guard, reason } of blocked) line(time, `${event} was blocked by "${guard}": ${reason}`)
    print(`${countOf(events.length, "event")}, ${blocks.length} blocked`)
  })
}

export async function simulateSession(options: Options & { guards?: string | undefined }): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.session)
    const file = options.guards === undefined ? undefined : resolve(directoryOf(options), options.guards)
    const guards = file === undefined ? await loadGuards() : await readGuards(file)
    const { events, problems } = simulateGuards(await Session.messages(id), guards)
    for (const { guard, message } of problems) Log.warn(`guard "${guard}": ${message}`)
    if (options.svg !== undefined) draw(options, id, events)
    if (options.format === "json") return print(JSON.stringify({ session: id, events, problems }, null, 2))
    const actions = events.filter(({ isAction }) => isAction)
    for (const { time, event, blocked, simulated = [] } of actions) {
      for (const { guard, reason } of simulated)
        line(time, `${event} would be blocked by "${guard}": ${reason}`)
      if (blocked.length && !simulated.length)
        line(time, `${event} would no longer be blocked by ${names(blocked)}`)
    }
    const count = actions.filter(({ simulated = [] }) => simulated.length).length
    print(
      `${countOf(guards.length, "guard")}, ${countOf(actions.length, "action")}, ${count} would be blocked`,
    )
  })
}

function draw({ svg, ...options }: Options, title: string, events: readonly Replayed[]): void {
  const file = resolve(directoryOf(options), svg!)
  writeFileSync(file, drawTimeline(title, events))
  process.stderr.write(`vitamin: the timeline is in ${Log.escapeControls(file)}\n`)
}

function names(blocked: Replayed["blocked"]): string {
  return blocked.map(({ guard }) => `"${guard}"`).join(", ")
}

/** A reason may have several lines. */
function line(time: number, text: string): void {
  print(wrapList(Log.escapeControls(`${localTime(time)}  ${text.replace(/\s+/g, " ")}`), 4))
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
