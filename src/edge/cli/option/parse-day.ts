// Reads a day, such as 2026-01-31, in the time zone of this machine.
import { UsageError } from "#edge/cli/process/exit.ts"

/** Midnight at the beginning of the day. `option` names the option in the error. */
export function parseDay(option: string, text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  const date = new Date(Number(year), Number(month) - 1, Number(day))
  // The calendar has no 2026-02-31, but `Date` does.
  if (year === undefined || date.getDate() !== Number(day) || date.getMonth() !== Number(month) - 1)
    throw new UsageError(`${option} takes a day, such as ${option} 2026-01-31, and not "${text}".`)
  return date.getTime()
}
