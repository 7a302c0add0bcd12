// Keeps a part of the page that cannot be drawn from taking the rest with it.
import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"

/** `what`: the words for the part, such as "This view". */
export function Boundary({ what, children }: { what: string; children?: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (!error) return html`${children}`
  return html`<p class="error pad" role="alert">
    ${what} cannot be shown: ${(error as Error).message} <button type="button" onClick=${reset}>Try again</button>
  </p>`
}
