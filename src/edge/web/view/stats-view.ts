// Tokens, money, turns and tool calls by day, divided by model or agent.
import { useSignal } from "@preact/signals"
import type { Client } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { count, duration, money } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { Choice, Empty, Loaded, useTitle } from "#edge/web/part/parts.ts"
import { Plot, type Series } from "#edge/web/part/plot.ts"
import { useData } from "#edge/web/part/use-data.ts"

type Stats = Awaited<ReturnType<Client["getStats"]>>
type Row = { day: string; model: string; agent: string; tool?: string }
type Division = "model" | "agent"

const ranges = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "A year"],
] as const
const divisions = [
  ["model", "Model"],
  ["agent", "Agent"],
] as const
/** The largest ones have a colour of their own. */
const maxSeries = 7
const dayLength = 86_400_000
/** More days than this are shown as months. */
const maxDays = 100

export function StatsView() {
  useTitle("Stats")
  return html`<div class="view"><h1>Stats of all folders</h1><${Plots} /></div>`
}

export function FolderStats({ folder }: { folder: string }) {
  return html`<${Plots} folder=${folder} />`
}

function Plots({ folder }: { folder?: string }) {
  const range = useSignal("30")
  const division = useSignal<Division>("model")
  const stats = useData(
    () => {
      const since = String(Date.now() - Number(range.value) * dayLength)
      return clientFor(folder).getStats(folder === undefined ? { since, all: true } : { since })
    },
    [folder, range.value],
    (event) => event.type === "session.idle",
  )
  return html`
    <div class="tools">
      <${Choice} label="Time" value=${range.value} options=${ranges} onChoose=${(value: string) => {
        range.value = value
      }} />
      <${Choice} label="Divided by" value=${division.value} options=${divisions} onChoose=${(
        value: string,
      ) => {
        division.value = value as Division
      }} />
    </div>
    <${Loaded} data=${stats}>
      ${(value: Stats) =>
        value.used.length || value.tools.length
          ? html`<${Shown} stats=${value} division=${division.value} />`
          : html`<${Empty}>No session was used in this time.<//>`}
    <//>
  `
}

function Shown({ stats, division }: { stats: Stats; division: Division }) {
  const { sessions, tasks, prompts, used, tools } = stats
  const days = daysOf(stats)
  const plot = <T extends Row>(
    title: string,
    rows: T[],
    by: keyof Row,
    amount: (row: T) => number,
    format = count,
  ) =>
    html`<${Plot} title=${title} heading="Day" columns=${days} series=${divide(rows, days, by, amount)} format=${format} />`
  return html`
    <p class="pad dim">${sessions} sessions · ${tasks} tasks · ${prompts} prompts</p>
    <div class="plots">
      ${plot("Tokens", used, division, ({ input, output }) => input + output)}
      ${plot("Money", used, division, ({ cost }) => cost, money)}
      ${plot("Turns", used, division, ({ turns }) => turns)}
      ${plot("Tool calls", tools, "tool", ({ calls }) => calls)}
      ${plot("Time of tools", tools, "tool", ({ time }) => time, duration)}
      ${plot("Failed tool calls", tools, "tool", ({ failures }) => failures)}
    </div>
  `
}

/** Every day of the range, also those without use; months if there are many. */
function daysOf({ since, until, used, tools }: Stats): string[] {
  const local = (time: number) => {
    const at = new Date(time)
    return new Date(Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()))
  }
  const days = new Set([...used, ...tools].map(({ day }) => day))
  for (let at = local(since).getTime(); at <= local(until).getTime(); at += dayLength)
    days.add(new Date(at).toISOString().slice(0, 10))
  const all = [...days].sort()
  return all.length > maxDays ? [...new Set(all.map((day) => day.slice(0, 7)))] : all
}

/** One series for each of the largest, and one for all others. */
function divide<T extends Row>(
  rows: T[],
  days: string[],
  by: keyof Row,
  amount: (row: T) => number,
): Series[] {
  const places = new Map(days.map((day, at) => [day, at]))
  const found = new Map<string, Series>()
  const into = (name: string) => {
    const known = found.get(name) ?? { name, values: days.map(() => 0), total: 0 }
    found.set(name, known)
    return known
  }
  const totals = new Map<string, number>()
  for (const row of rows) totals.set(row[by] ?? "", (totals.get(row[by] ?? "") ?? 0) + amount(row))
  const largest = new Set(
    [...totals]
      .sort((a, b) => b[1] - a[1])
      .slice(0, maxSeries)
      .map(([name]) => name),
  )
  for (const row of rows) {
    const name = row[by] ?? ""
    const series = into(largest.has(name) ? name || "unknown" : "others")
    series.values[places.get(row.day) ?? places.get(row.day.slice(0, 7))!]! += amount(row)
    series.total += amount(row)
  }
  return [...found.values()].filter(({ total }) => total > 0).sort((a, b) => b.total - a.total)
}
