// What a session and its tasks have cost: plots over the turns, and tables by turn, by model and by agent.
import type { SessionCost } from "#client/client.ts"
import { count, duration, money } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { Plot } from "#edge/web/part/plot.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

/** Of a longer session the last turns are shown. */
const maxTurns = 200

export function CostPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.getCost({ id: open.id }), [
    "session.idle",
    "session.updated",
    "session.compacted",
  ])
  return html`<${Shown}
    live=${live}
    empty="No model has answered in this session yet."
    isEmpty=${({ total, rows }: SessionCost) => !rows.length && !total.input && !total.output}
  >
    ${(cost: SessionCost) => html`
      <p class="total">
        <strong>${money(cost.total.cost)}</strong> · ${count(cost.total.input)} tokens sent
        ${cost.total.cacheRead ? ` (${count(cost.total.cacheRead)} from the cache)` : ""} · ${count(cost.total.output)} received
        <span class="dim"> · tasks and summaries included</span>
      </p>
      <${Turns} prompts=${cost.prompts} />
      <${Rows} rows=${cost.rows} />
    `}
  <//>`
}

function Turns({ prompts }: { prompts: SessionCost["prompts"] }) {
  if (!prompts.length) return null
  const from = Math.max(0, prompts.length - maxTurns)
  const shown = prompts.slice(from)
  const columns = shown.map((_, i) => `turn ${from + i + 1}`)
  const series = (name: string, of: (turn: (typeof shown)[number]) => number) => {
    const values = shown.map(of)
    return { name, values, total: values.reduce((sum, value) => sum + value, 0) }
  }
  return html`
    <${Plot}
      title="Tokens per turn"
      columns=${columns}
      format=${count}
      series=${[
        series("sent", ({ input, cacheRead }) => Math.max(0, input - cacheRead)),
        series("received", ({ output }) => output),
        series("from the cache", ({ cacheRead }) => cacheRead),
      ]}
    />
    ${
      shown.some(({ cost }) => cost > 0)
        ? html`<${Plot} title="Cost per turn" columns=${columns} format=${money} series=${[series("cost", ({ cost }) => cost)]} />`
        : null
    }
    <${Plot} title="Time per turn" columns=${columns} format=${duration} series=${[series("time", (turn) => turn.duration)]} />
    <details>
      <summary>The turns as a table</summary>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">Turn</th><th scope="col">Sent</th><th scope="col">Cached</th><th scope="col">Received</th>
            <th scope="col">Cost</th><th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map(
            (turn, i) => html`<tr key=${turn.messageId}>
              <th scope="row" title=${new Date(turn.time).toLocaleString()}>${from + i + 1}</th>
              <td>${count(turn.input)}</td><td>${count(turn.cacheRead)}</td><td>${count(turn.output)}</td>
              <td>${money(turn.cost)}</td><td>${duration(turn.duration)}</td>
            </tr>`,
          )}
        </tbody>
      </table>
    </details>
  `
}

type Row = SessionCost["rows"][number]

function Rows({ rows }: { rows: Row[] }) {
  if (!rows.length) return null
  const most = Math.max(...rows.map(weight))
  return html`<table class="figures">
    <caption>By model and agent</caption>
    <thead>
      <tr>
        <th scope="col">Model</th><th scope="col">Agent</th><th scope="col">Answers</th><th scope="col">Sent</th>
        <th scope="col">Received</th><th scope="col">Cost</th><th scope="col">Time</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) => html`<tr key=${`${row.model} ${row.agent}`}>
          <th scope="row">
            ${row.model}
            <span class="share" style=${{ width: `${most ? (weight(row) / most) * 100 : 0}%` }}></span>
          </th>
          <td>${row.agent}</td><td>${row.answers}</td><td>${count(row.input)}</td><td>${count(row.output)}</td>
          <td>${money(row.cost)}</td><td>${duration(row.duration)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`
}

/** Models without known prices are compared by tokens. */
function weight({ cost, input, output }: Row): number {
  return cost || (input + output) / 1e9
}
