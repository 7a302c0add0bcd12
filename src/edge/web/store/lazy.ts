// A component whose code is loaded when it is first shown. What could not be loaded can be tried again; after an update of
// the server its files have other names, and only a reload finds them.
import { signal } from "@preact/signals"
import type { FunctionComponent } from "preact"
import { html } from "#edge/web/base/html.ts"

type State<Props> =
  | { is: "waiting" | "loading" | "failed" }
  | { is: "loaded"; View: FunctionComponent<Props> }

export function lazy<Props extends object>(
  load: () => Promise<FunctionComponent<Props>>,
): FunctionComponent<Props> {
  const state = signal<State<Props>>({ is: "waiting" })

  async function start(): Promise<void> {
    state.value = { is: "loading" }
    try {
      state.value = { is: "loaded", View: await load() }
    } catch {
      state.value = { is: "failed" }
    }
  }

  return (props) => {
    const now = state.value
    if (now.is === "loaded") return html`<${now.View} ...${props} />`
    if (now.is === "failed")
      return html`<p class="error pad" role="alert">
        This part of the page could not be loaded.
        <button type="button" onClick=${start}>Try again</button>
        <button type="button" onClick=${() => location.reload()}>Reload the page</button>
      </p>`
    if (now.is === "waiting") queueMicrotask(start)
    return null
  }
}
