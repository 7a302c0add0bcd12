// `/cost`: what the session and its tasks have cost, by model and agent, and a plot of it over the prompts.
import type { SessionCost } from "#client/client.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { cutTo } from "#edge/tui/screen/width.ts"
import { type Command, sessionOf } from "./context.ts"
import { tableLines } from "./table-lines.ts"
import { countOf, dollars, shortCount } from "./words.ts"

const heights = [..."▁▂▃▄▅▆▇█"]
const widest = 60

export const costCommand: Command = {
  name: "cost",
  about: "show what the session has cost, by model and agent",
  async run(context) {
    const { client, print, view } = context
    print(costLines(await client.getCost({ id: sessionOf(context).id }), view()))
  },
}

function costLines({ total, rows, prompts }: SessionCost, view: View): Line[] {
  const { columns, paint } = view
  const table = [
    ["model", "agent", "answers", "in", "cached", "out", "cost"],
    ...rows.map((row) => [
      row.model,
      row.agent,
      String(row.answers),
      shortCount(row.input),
      shortCount(row.cacheRead),
      shortCount(row.output),
      row.cost ? dollars(row.cost) : "-",
    ]),
  ]
  const price = total.cost ? dollars(total.cost) : "no known price"
  const sum = `${price} for ${shortCount(total.input)} tokens in, ${shortCount(total.output)} out`
  return [paint("strong", cutTo(sum, columns)), ...tableLines(table, view), ...plotLines(prompts, view)]
}

/** One column for each prompt; neighbours share one if there are many. Tokens, if no price is known. */
function plotLines(prompts: SessionCost["prompts"], { columns, paint }: View): Line[] {
  if (prompts.length < 2) return []
  const isPriced = prompts.some(({ cost }) => cost > 0)
  const values = prompts.map(({ cost, input, output }) => (isPriced ? cost : input + output))
  const width = Math.max(1, Math.min(widest, columns))
  const each = Math.ceil(values.length / width)
  const bars = Array.from({ length: Math.ceil(values.length / each) }, (_, i) =>
    values.slice(i * each, (i + 1) * each).reduce((sum, value) => sum + value, 0),
  )
  const most = Math.max(...bars)
  const plot = bars.map((value) => heights[most > 0 ? Math.min(7, Math.floor((value / most) * 8)) : 0])
  const top = Math.max(...values)
  const words = `${countOf(prompts.length, "prompt")}, at most ${isPriced ? dollars(top) : `${shortCount(top)} tokens`} for one`
  return [paint("accent", plot.join("")), paint("dim", cutTo(words, columns))]
}
