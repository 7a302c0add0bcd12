// A change of files: unified or side by side, as the person chose last. Of a long one the beginning is drawn.
import { signal, useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import { readStored, store } from "#edge/web/base/stored.ts"
import { CopyButton } from "#edge/web/part/copy-button.ts"
import { parseDiff, type Row, type Side } from "./parse-diff.ts"

const firstRows = 100
/** Rows that one press of the button adds. */
const moreRows = 2_000
const isSplit = signal(readStored("vitamin.diff") === "split")

export function DiffView({ text }: { text: string }) {
  const rows = useMemo(() => parseDiff(text), [text])
  const limit = useSignal(firstRows)
  const shown = rows.slice(0, limit.value)
  const more = Math.min(moreRows, rows.length - shown.length)
  const choose = (split: boolean) => {
    isSplit.value = split
    store("vitamin.diff", split ? "split" : "unified")
  }
  return html`<div class="diff" data-split=${isSplit.value}>
    <div class="diff-head" role="group" aria-label="How the change is shown">
      <button type="button" class="small" aria-pressed=${!isSplit.value} onClick=${() => choose(false)}>Unified</button>
      <button type="button" class="small" aria-pressed=${isSplit.value} onClick=${() => choose(true)}>Side by side</button>
      <${CopyButton} text=${text} />
    </div>
    <div class="diff-rows" tabindex="0" role="group" aria-label="Change">
      <table><tbody>${shown.flatMap((row, i) => (isSplit.value ? splitRow(row, i) : unifiedRows(row, i)))}</tbody></table>
    </div>
    ${
      more > 0
        ? html`<button
            type="button"
            class="small"
            onClick=${() => {
              limit.value += moreRows
            }}
          >
            ${rows.length - shown.length > more ? `Show ${more} of ${rows.length - shown.length} more lines` : `Show all ${rows.length} lines`}
          </button>`
        : null
    }
  </div>`
}

function unifiedRows(row: Row, key: number) {
  if (row.kind === "head") return [head(row.text, 4, key)]
  if (row.kind === "same") return [line(key, "same", row.before, row.after)]
  return [
    row.before ? line(`${key}-`, "removed", row.before, undefined) : null,
    row.after ? line(`${key}+`, "added", undefined, row.after) : null,
  ]
}

function line(key: string | number, kind: string, before: Side | undefined, after: Side | undefined) {
  const sign = kind === "same" ? " " : kind === "removed" ? "-" : "+"
  return html`<tr key=${key} class=${kind}>
    <td class="number">${before?.number}</td>
    <td class="number">${after?.number}</td>
    <td class="sign">${sign}</td>
    <td class="text">${pieces((before ?? after)!)}</td>
  </tr>`
}

function splitRow(row: Row, key: number) {
  if (row.kind === "head") return [head(row.text, 4, key)]
  const [left, right] =
    row.kind === "same" ? ["same", "same"] : [row.before ? "removed" : "none", row.after ? "added" : "none"]
  return [
    html`<tr key=${key}>
      <td class=${`number ${left}`}>${row.before?.number}</td>
      <td class=${`text ${left}`}>${row.before ? pieces(row.before) : ""}</td>
      <td class=${`number ${right}`}>${row.after?.number}</td>
      <td class=${`text ${right}`}>${row.after ? pieces(row.after) : ""}</td>
    </tr>`,
  ]
}

function head(text: string, columns: number, key: number) {
  return html`<tr key=${key} class="hunk"><td colspan=${columns}>${text}</td></tr>`
}

function pieces({ pieces }: Side) {
  return pieces.map(({ text, isChanged }) => (isChanged ? html`<mark>${text}</mark>` : text))
}
