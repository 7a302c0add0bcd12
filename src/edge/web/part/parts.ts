// Small parts that several views share.
import { effect, type Signal, signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { visible } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { questions } from "#edge/web/store/sessions.ts"
import type { Data } from "./use-data.ts"

const viewTitle = signal("")
// Also in a tab behind others, a person sees that questions wait.
effect(() => {
  const { length } = questions.value
  const name = visible(viewTitle.value)
  document.title = `${length ? `(${length}) ` : ""}${name ? `${name} · ` : ""}vitamin`
})

export function useTitle(title: string): void {
  useEffect(() => {
    viewTitle.value = title
  }, [title])
}

/** The content once the data is there; else why it is not. */
export function Loaded<T>({ data, children }: { data: Data<T>; children(value: T): ComponentChildren }) {
  if (data.error !== undefined)
    return html`<p class="error pad" role="alert">
      ${data.error} <button type="button" onClick=${data.reload}>Try again</button>
    </p>`
  if (data.value === undefined) return html`<p class="dim pad" aria-busy="true">Loading…</p>`
  return html`${children(data.value)}`
}

export function Empty({ children }: { children: ComponentChildren }) {
  return html`<p class="dim pad">${children}</p>`
}

export function Search({ text, label }: { text: Signal<string>; label: string }) {
  return html`<input
    type="search"
    aria-label=${label}
    placeholder=${label}
    maxlength="2000"
    value=${text.value}
    onInput=${(event: InputEvent) => {
      text.value = (event.target as HTMLInputElement).value
    }}
  />`
}

/** A choice with its label. `options`: value and text. */
export function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  onChoose(value: string): void
}) {
  return html`<label class="choice">
    <span>${label}</span>
    <select aria-label=${label} value=${value} onChange=${(event: Event) => onChoose((event.target as HTMLSelectElement).value)}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
    </select>
  </label>`
}

export function matches(text: string, search: string): boolean {
  const low = text.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word))
}
