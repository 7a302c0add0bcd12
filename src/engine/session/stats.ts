// What was used and spent: by day, model, agent and tool, from the records of the sessions. Reads one session after the
// other and keeps only the sums, so that many sessions need little memory.
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Storage from "#kernel/storage/storage.ts"

type Names = { day: string; model: string; agent: string }
type Used = Names & SessionRecord.Totals & { turns: number }
type ToolUsed = Names & { tool: string; calls: number; failures: number; time: number }
/** Times are in milliseconds. `used`: tokens and money of answers. `prompts` and `sessions` are without tasks. */
export type Stats = Readonly<{
  since: number
  until: number
  sessions: number
  tasks: number
  prompts: number
  used: Used[]
  tools: ToolUsed[]
}>

export type StatsQuery = {
  /** In milliseconds since 1970. */
  since: number
  /** All projects of this machine instead of the current one. */
  everywhere?: boolean
}

type Fields = Record<string, unknown>
type Counted = Pick<SessionRecord.Info, "id" | "usage" | "agent"> & {
  isFork: boolean
  isTask: boolean
  model: string
  created: number
  updated: number
}
type Sums = {
  stats: { since: number; until: number; sessions: number; tasks: number; prompts: number }
  used: Map<string, Used>
  tools: Map<string, ToolUsed>
  dayOf: (time: number) => string
}

export async function stats({ since, everywhere = false }: StatsQuery): Promise<Stats> {
  const sums: Sums = {
    stats: { since, until: Date.now(), sessions: 0, tasks: 0, prompts: 0 },
    used: new Map(),
    tools: new Map(),
    dayOf: createDayOf(),
  }
  const { sessions, given } = await readSessions({ since, everywhere })
  for (const session of sessions) await addSession(sums, session, given.get(session.id))
  const byName = (a: { day: string }, b: { day: string }) => {
    const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
    return a.day === b.day ? (one < other ? -1 : 1) : a.day < b.day ? -1 : 1
  }
  return {
    ...sums.stats,
    used: [...sums.used.values()].sort(byName),
    tools: [...sums.tools.values()].sort(byName),
  }
}

/** The sessions that may have messages since then, with what is needed of them, and what their tasks used: that is in their own
 * totals too. */
async function readSessions({ since, everywhere }: Required<StatsQuery>) {
  const sessions: Counted[] = []
  const given = new Map<string, SessionRecord.Totals>()
  for await (const session of SessionRecord.each({ everywhere })) {
    const { id, parentId, taskOf, usage, agent, model, fallbackModel, time } = session
    if (taskOf) {
      const totals = given.get(taskOf.sessionId) ?? SessionRecord.Totals.parse({})
      given.set(taskOf.sessionId, totals)
      SessionRecord.addUsage(totals, usage)
    }
    // A session that was not changed since then has no message since then.
    if (time.updated < since) continue
    const { created, updated } = time
    const kinds = { isFork: Boolean(parentId), isTask: Boolean(taskOf) }
    sessions.push({ id, usage, agent, model: model ?? fallbackModel ?? "", created, updated, ...kinds })
  }
  return { sessions, given }
}

async function addSession(
  sums: Sums,
  session: Counted,
  given: SessionRecord.Totals = SessionRecord.Totals.parse({}),
): Promise<void> {
  // A fork begins with copies of messages, which count in the session that they come from.
  const first = Math.max(sums.stats.since, session.isFork ? session.created : 0)
  const asked = new Map<string, { model: string; agent: string }>()
  const rest = { ...session.usage }
  for (const name of totalNames) rest[name] -= given[name]
  let isUsed = false
  await Storage.readAll<Fields>(["message", session.id], (message) => {
    const { time, model, agent, usage, type } = message
    const names = { model: wordOf(model), agent: wordOf(agent) }
    const isOwn = !session.isFork || numberOf(time) >= session.created
    if (isOwn && isFields(usage)) for (const name of totalNames) rest[name] -= numberOf(usage[name])
    if (type === "tool_request") for (const id of callsOf(message)) asked.set(id, names)
    if (numberOf(time) < first || numberOf(time) > sums.stats.until) return
    isUsed = true
    const day = sums.dayOf(numberOf(time))
    if (isFields(usage)) addUsage(sums, { day, ...names }, usage, 1)
    const data = isFields(message.data) ? message.data : {}
    if (type === "text" && data.role === "user" && !session.isTask && !isFields(data.origin))
      sums.stats.prompts++
    if (type === "tool_result") addCall(sums, { day, ...(asked.get(wordOf(data.requestId)) ?? names) }, data)
  })
  if (!isUsed) return
  sums.stats[session.isTask ? "tasks" : "sessions"]++
  addRest(sums, session, rest)
}

/** Requests that are no answers, such as summaries, are only in the totals of the session. */
function addRest(sums: Sums, { agent, model, updated }: Counted, rest: SessionRecord.Totals): void {
  if (rest.input < 1 && rest.output < 1) return
  const left = Object.fromEntries(totalNames.map((name) => [name, Math.max(0, rest[name])]))
  addUsage(sums, { day: sums.dayOf(updated), model, agent }, left, 0)
}

const totalNames = Object.keys(SessionRecord.Totals.shape) as (keyof SessionRecord.Totals)[]

function addUsage({ used }: Sums, place: Names, usage: Fields, turns: number): void {
  const key = JSON.stringify(place)
  const row = used.get(key) ?? { ...place, turns: 0, ...SessionRecord.Totals.parse({}) }
  used.set(key, row)
  row.turns += turns
  for (const name of totalNames) row[name] += numberOf(usage[name])
}

function addCall({ tools }: Sums, place: Names, data: Fields): void {
  const tool = wordOf(data.toolName)
  const key = JSON.stringify([place, tool])
  const row = tools.get(key) ?? { ...place, tool, calls: 0, failures: 0, time: 0 }
  tools.set(key, row)
  row.calls++
  row.time += numberOf(data.duration)
  if (hasFailed(data)) row.failures++
}

/** A command that ended with an exit code or a signal has failed, although its call has not. */
function hasFailed({ status, output, metadata }: Fields): boolean {
  const beside = isFields(metadata) && isFields(metadata.data) ? metadata.data : undefined
  const data = beside ?? (isFields(output) ? output : {})
  return status !== "success" || Boolean(data.exitCode) || Boolean(data.signal)
}

function callsOf({ data }: Fields): string[] {
  const calls = isFields(data) && Array.isArray(data.calls) ? data.calls : []
  return calls.map((call) => wordOf(isFields(call) ? call.id : undefined))
}

/** Calls come close together, so the last day is kept: building it for each message takes longer than reading it. */
function createDayOf(): (time: number) => string {
  let [from, to, name] = [0, 0, ""]
  return (time) => {
    if (time >= from && time < to) return name
    const date = new Date(time)
    const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
    from = new Date(year, month, day).getTime()
    to = new Date(year, month, day + 1).getTime()
    const two = (value: number) => String(value).padStart(2, "0")
    name = `${String(year).padStart(4, "0")}-${two(month + 1)}-${two(day)}`
    return name
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** No count or time is larger, and a sum must stay a number. */
const largest = Number.MAX_SAFE_INTEGER

function numberOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= largest ? value : 0
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 200) : ""
}
