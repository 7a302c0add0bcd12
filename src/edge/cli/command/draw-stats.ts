// The text of `vitamin stats`: totals, then a table with bars for days, models, agents and tools.
import { isUtf8 } from "#edge/cli/terminal/wrap-text.ts"
import type * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import { shorten } from "#util/plain-text.ts"

type Stats = Awaited<ReturnType<typeof Session.stats>>
type Used = Stats["used"][number]
type Row = { name: string; cells: string[]; size: number }

const defaultWidth = 80
const narrowest = 30
const maxRows = 20
const maxName = 40
const maxBar = 30

export function drawStats(stats: Stats, columns: number | undefined): string[] {
  const width = Math.max(narrowest, columns || defaultWidth)
  if (!stats.used.length && !stats.tools.length) return ["Nothing was used in this time."]
  const total = sum(stats.used)
  const first = new Date(stats.since).toLocaleDateString("sv")
  const byDay = usedRows(stats.used, "day").sort((a, b) => (a.name < b.name ? -1 : 1))
  return [
    `Since ${first}: ${many(stats.sessions, "session")}, ${many(stats.tasks, "task")}, ${many(stats.prompts, "prompt")}, ${many(total.turns, "turn")}`,
    `${short(total.input)} tokens in (${short(total.cacheRead)} cached), ${short(total.output)} out, ${money(total.cost)}`,
    ...section("Day", byDay, { width, isLast: true }),
    ...section("Model", usedRows(stats.used, "model"), { width }),
    ...section("Agent", usedRows(stats.used, "agent"), { width }),
    ...section("Tool", toolRows(stats.tools), { width }),
  ]
}

function usedRows(used: readonly Used[], name: "day" | "model" | "agent"): Row[] {
  const groups = [...Map.groupBy(used, (row) => row[name])]
  return groups
    .map(([key, rows]) => {
      const { turns, input, output, cost } = sum(rows)
      const cells = [many(turns, "turn"), `${short(input + output)} tokens`, money(cost)]
      return { name: key || "?", cells, size: cost || (input + output) / 1e9 }
    })
    .sort((a, b) => b.size - a.size)
}

function toolRows(tools: Stats["tools"]): Row[] {
  const groups = [...Map.groupBy(tools, ({ tool }) => tool)]
  return groups
    .map(([tool, rows]) => {
      const add = (name: "calls" | "failures" | "time") => rows.reduce((all, row) => all + row[name], 0)
      const failed = add("failures") ? `${add("failures")} failed` : ""
      return {
        name: tool || "?",
        cells: [many(add("calls"), "call"), failed, time(add("time"))],
        size: add("calls"),
      }
    })
    .sort((a, b) => b.size - a.size)
}

/** A narrow terminal gets no bars, and then fewer cells. `isLast`: the last rows are shown instead of the first. */
function section(
  title: string,
  all: Row[],
  { width, isLast }: { width: number; isLast?: boolean },
): string[] {
  const rows = isLast ? all.slice(-maxRows) : all.slice(0, maxRows)
  if (!rows.length) return []
  const names = rows.map(({ name }) => shorten(Log.escapeControls(name), Math.min(maxName, width - 12)))
  const nameWidth = Math.max(...names.map(({ length }) => length))
  const widths = rows[0]!.cells.map((_, at) => Math.max(...rows.map(({ cells }) => cells[at]!.length)))
  while (widths.length > 1 && lineWidth(nameWidth, widths) > width) widths.shift()
  const barWidth = Math.min(maxBar, width - lineWidth(nameWidth, widths) - 2)
  const largest = Math.max(...rows.map(({ size }) => size), Number.MIN_VALUE)
  const lines = rows.map(({ cells, size }, at) => {
    const shown = cells.slice(cells.length - widths.length).map((cell, i) => cell.padStart(widths[i]!))
    const line = [names[at]!.padEnd(nameWidth), ...shown].join("  ")
    return (barWidth >= 5 ? `${line}  ${bar(size / largest, barWidth)}` : line).trimEnd()
  })
  const left = all.length - rows.length
  return ["", title, ...lines, ...(left > 0 ? [`and ${left} more (--format json has all)`] : [])]
}

function lineWidth(name: number, widths: number[]): number {
  return widths.reduce((all, width) => all + width + 2, name)
}

function bar(share: number, width: number): string {
  return (isUtf8() ? "█" : "#").repeat(Math.max(share > 0 ? 1 : 0, Math.round(share * width)))
}

function sum(rows: readonly Used[]) {
  const total = { turns: 0, input: 0, output: 0, cacheRead: 0, cost: 0 }
  for (const row of rows)
    for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += row[name]
  return total
}

function many(count: number, word: string): string {
  return `${count} ${count === 1 ? word : `${word}s`}`
}

function money(dollars: number): string {
  return `$${dollars.toFixed(dollars > 0 && dollars < 1 ? 4 : 2)}`
}

function short(count: number): string {
  if (count < 1_000) return String(Math.round(count))
  return count < 1e6 ? `${(count / 1e3).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`
}

function time(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  return milliseconds < 6e5 ? `${(milliseconds / 1e3).toFixed(1)} s` : `${Math.round(milliseconds / 6e4)} min`
}
