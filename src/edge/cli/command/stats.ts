// `vitamin stats`: what was used and spent, as bars, JSON or CSV.
import { parseDay } from "#edge/cli/option/parse-day.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import * as Session from "#engine/session/session.ts"
import { drawStats } from "./draw-stats.ts"

type Options = FolderOptions & {
  all?: boolean | undefined
  days?: number | undefined
  since?: string | undefined
  format: "text" | "json" | "csv"
}
type Stats = Awaited<ReturnType<typeof Session.stats>>

const defaultDays = 30
const maxDays = 36_500
const columns = [
  ...["day", "model", "agent", "tool", "turns", "input", "output", "reasoning", "cacheRead", "cacheWrite"],
  ...["cost", "calls", "failures", "time"],
]

export async function showStats(options: Options): Promise<void> {
  const since = startOf(options)
  await inInstance(options, async () => {
    const stats = await Session.stats({ since, everywhere: options.all === true })
    if (options.format === "json") print(JSON.stringify(stats, null, 2))
    else if (options.format === "csv") print(csvOf(stats))
    else for (const line of drawStats(stats, process.stdout.columns)) print(line)
  })
}

/** Midnight of the first day. `--days 1` is today. */
function startOf({ days, since }: Options): number {
  if (days !== undefined && since !== undefined) throw new UsageError("Give --days or --since, not both.")
  if (since === undefined) return midnight(new Date(), 1 - Math.min(days ?? defaultDays, maxDays))
  return parseDay("--since", since)
}

function midnight(date: Date, later: number): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + later).getTime()
}

/** One table: a row has a tool, and then calls, or none, and then tokens and money. */
function csvOf({ used, tools }: Stats): string {
  const rows = [...used, ...tools].map((row) =>
    columns.map((name) => cell((row as Record<string, unknown>)[name] ?? "")).join(","),
  )
  return [columns.join(","), ...rows].join("\r\n")
}

/** Spreadsheets run a text that begins with one of these as a formula, and names come from models and servers. */
const formula = /^[\s]*[=+\-@\t\r]/

function cell(value: unknown): string {
  const text = typeof value === "number" ? String(value) : String(value).replace(formula, "'$&")
  return /[",\r\n\t']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
