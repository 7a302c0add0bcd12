// Amounts by day or by turn as stacked bars: plain elements, so that they follow the theme, the zoom and the width. The same numbers
// are in a table, for screen readers and for reading them off.
import { html } from "#edge/web/base/html.ts"

export type Series = { name: string; values: number[]; total: number }
type Plotted = { title: string; columns: string[]; series: Series[]; format(value: number): string }

/** Of a bar, as in the style sheet. */
const widest = 3.5

/** `heading`: of the column names in the table; without it, the caller has a table of its own. */
export function Plot({ title, columns, series, format, heading }: Plotted & { heading?: string }) {
  const sums = columns.map((_, at) => series.reduce((sum, { values }) => sum + values[at]!, 0))
  const top = Math.max(...sums, 0)
  const total = series.reduce((sum, one) => sum + one.total, 0)
  if (!top)
    return html`<section class="card"><h2>${title}</h2><p class="dim">Nothing in this time.</p></section>`
  return html`<section class="card">
    <div class="card-head"><h2>${title}</h2><strong>${format(total)}</strong></div>
    <div class="plot" role="img" aria-label=${`${title} from ${columns[0]} to ${columns.at(-1)}: ${format(total)} in total, at most ${format(top)}. The table has the numbers.`}>
      <div class="axis"><span>${format(top)}</span><span>${format(top / 2)}</span><span>${format(0)}</span></div>
      <div class="bars">
        ${columns.map(
          (
            column,
            at,
          ) => html`<div class="bar-column" key=${column} title=${`${column}: ${format(sums[at]!)}`}>
            ${series.map(({ name, values }, index) =>
              values[at]
                ? html`<div key=${name} class=${`series-${index}`} style=${{ height: `${(values[at]! / top) * 100}%` }}></div>`
                : null,
            )}
          </div>`,
        )}
      </div>
      <div class="ends" style=${{ maxWidth: `${columns.length * widest}rem` }}>
        ${[...new Set([columns[0], columns[columns.length >> 1], columns.at(-1)])].map((one) => html`<span key=${one}>${one}</span>`)}
      </div>
    </div>
    <ul class="legend">
      ${series.map(
        ({ name, total: own }, index) =>
          html`<li key=${name}><span class=${`swatch series-${index}`}></span> <span class="break">${name}</span> <span class="dim">${format(own)}</span></li>`,
      )}
    </ul>
    ${
      heading === undefined
        ? null
        : html`<details>
            <summary>${title} as a table</summary>
            <${Numbers} heading=${heading} columns=${columns} series=${series} format=${format} />
          </details>`
    }
  </section>`
}

function Numbers({ heading, columns, series, format }: Omit<Plotted, "title"> & { heading: string }) {
  const used = columns
    .map((column, at) => ({ column, at }))
    .filter(({ at }) => series.some(({ values }) => values[at]))
  return html`<div class="sideways" tabindex="0" role="group" aria-label="Numbers">
    <table>
      <thead><tr><th scope="col">${heading}</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${used.map(
          ({ column, at }) => html`<tr key=${column}>
            <th scope="row">${column}</th>
            ${series.map(({ values }) => html`<td class="number">${format(values[at]!)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
