// Cron expressions: which minutes fit one, and when the next one comes in a time zone. The engine of the jobs fires the
// schedules; this accepts a subset of its expressions and computes the same times, for people to read.
import { NamedError } from "#util/error.ts"

type Field = { name: string; min: number; max: number; names?: readonly string[] }
type Values = ReadonlySet<number>
export type Cron = Readonly<{
  minutes: Values
  hours: Values
  days: Values
  months: Values
  weekdays: Values
}>
type Clock = { month: number; day: number; weekday: number; hour: number; minute: number }

export class InvalidCron extends NamedError {
  constructor(expression: string, reason: string) {
    super(
      "Schedule.InvalidCron",
      `${JSON.stringify(expression.slice(0, 200))} is no cron expression: ${reason}. Five fields are minute, hour, day of the month, month, weekday, such as "0 7 * * 1" for Mondays at 7:00.`,
      { expression },
    )
  }
}

export class InvalidTimezone extends NamedError {
  constructor(timezone: string) {
    super(
      "Schedule.InvalidTimezone",
      `${JSON.stringify(timezone.slice(0, 200))} is no time zone. Name one such as Europe/Berlin or UTC.`,
      { timezone },
    )
  }
}

const months = "january february march april may june july august september october november december"
const weekdays = "sunday monday tuesday wednesday thursday friday saturday"
const fields: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: months.split(" ") },
  { name: "weekday", min: 0, max: 7, names: weekdays.split(" ") },
]
const mostDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const minute = 60_000
const day = 24 * 60
/** 29 February falls on each weekday within 40 years. */
const horizon = 41 * 366 * day * minute

/** Throws `InvalidCron`, also for days that never come. */
export function parseCron(expression: string): Cron {
  const words = expression.trim().split(/\s+/)
  if (words.length === 6)
    throw new InvalidCron(expression, "it has a field for seconds; a schedule runs at most once a minute")
  if (words.length !== fields.length)
    throw new InvalidCron(expression, `it has ${words[0] ? words.length : 0} fields`)
  const [minutes, hours, days, months, weekdays] = fields.map((field, n) =>
    valuesOf(expression, field, words[n]!),
  ) as [Values, Values, Values, Values, Values]
  if (![...months].some((month) => [...days].some((day) => day <= mostDays[month - 1]!)))
    throw new InvalidCron(expression, "such a day never comes")
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((one) => one % 7)) }
}

/** Throws `InvalidTimezone`. */
export function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone })
  } catch {
    throw new InvalidTimezone(timezone)
  }
}

/** The first fitting minute after a time, in milliseconds since 1970. A minute that the clocks skip in spring does not come; one
 * that they show twice in autumn comes twice. */
export function nextTime(cron: Cron, timezone: string, after: number): number | undefined {
  const clockAt = createClock(timezone)
  for (let time = (Math.floor(after / minute) + 1) * minute; time < after + horizon; ) {
    const skipped = minutesToSkip(cron, clockAt(time))
    if (skipped === 0) return time
    time += skipped * minute
  }
  return undefined
}

/** 0 if the minute fits. Jumps stop before midnight, because clocks may be set forward on the way. */
function minutesToSkip({ minutes, hours, days, months, weekdays }: Cron, clock: Clock): number {
  if (!months.has(clock.month) && clock.day < 27) return (27 - clock.day) * day
  if (!months.has(clock.month) || !days.has(clock.day) || !weekdays.has(clock.weekday))
    return clock.hour < 22 ? (22 - clock.hour) * 60 : 60 - clock.minute
  if (!hours.has(clock.hour)) return 60 - clock.minute
  return minutes.has(clock.minute) ? 0 : 1
}

function createClock(timeZone: string): (time: number) => Clock {
  const numeric = "numeric" as const
  const format = new Intl.DateTimeFormat("en-US", {
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    hourCycle: "h23",
    timeZone,
  })
  return (time) => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
    const [month, day] = [parts.get("month")!, parts.get("day")!]
    const weekday = new Date(Date.UTC(parts.get("year")!, month - 1, day)).getUTCDay()
    return { month, day, weekday, hour: parts.get("hour")!, minute: parts.get("minute")! }
  }
}

function valuesOf(expression: string, field: Field, text: string): Values {
  const wrong = (part: string, why: string) =>
    new InvalidCron(expression, `${JSON.stringify(part)} is no ${field.name}, ${why}`)
  const values = new Set<number>()
  for (const part of text.split(",")) {
    const [, all, from, to, step = "1"] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,3}))?$/.exec(part) ?? []
    if (!all && !from) throw wrong(part, "a list, a range (1-5) or a step (*/15)")
    if (Number(step) < 1 || (!all && to === undefined && part.includes("/")))
      throw wrong(part, "because a step follows * or a range, and is 1 or more")
    const first = all ? field.min : numberOf(field, from!)
    const last = all ? field.max : to === undefined ? first : numberOf(field, to)
    if (first === undefined || last === undefined) throw wrong(part, `which is ${field.min} to ${field.max}`)
    if (first > last) throw wrong(part, "because a range goes up")
    for (let value = first; value <= last; value += Number(step)) values.add(value)
  }
  return values
}

function numberOf({ min, max, names = [] }: Field, text: string): number | undefined {
  const word = text.toLowerCase()
  const named = names.findIndex((name) => name === word || name.slice(0, 3) === word)
  if (named >= 0) return named + min
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : undefined
}
