// What panels have in common: they say that they load, why they could not, or that there is nothing to show.
import type { ComponentChildren } from "preact"
import { html } from "#edge/web/base/html.ts"
import type { Live } from "./use-live.ts"

/** The content of a panel once its data is there; else why not. */
export function Shown<T>({
  live,
  empty,
  isEmpty,
  children,
}: {
  live: Live<T>
  empty: string
  isEmpty(value: T): boolean
  children(value: T): ComponentChildren
}) {
  const { value, problem, reload } = live
  return html`
    ${problem ? html`<p class="error" role="alert">${problem} <button type="button" onClick=${reload}>Try again</button></p>` : null}
    ${
      value === undefined
        ? problem
          ? null
          : html`<p class="dim" aria-busy="true">Loading…</p>`
        : isEmpty(value)
          ? html`<p class="empty-panel dim">${empty}</p>`
          : children(value)
    }
  `
}
