// The context window: how full it is, of what, and a button that compacts the session.
import { useSignal } from "@preact/signals"
import type { ContextUsage } from "#client/client.ts"
import { count } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

const parts: [keyof ContextUsage["parts"], string][] = [
  ["system", "System prompt"],
  ["rules", "Rules"],
  ["tools", "Tools"],
  ["summary", "Summary of older messages"],
  ["conversation", "Prompts and answers"],
  ["calls", "Tool calls and results"],
  ["files", "Attached files"],
]

export function ContextPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.getContext({ id: open.id }), [
    "message.created",
    "session.idle",
    "session.compacted",
    "model.chosen",
    "session.updated",
  ])
  const isCompacting = useSignal(false)
  const isBusy = open.session().status !== "idle" || isCompacting.value
  const compact = () =>
    attempt(async () => {
      isCompacting.value = true
      try {
        await open.client.compactSession({ id: open.id })
      } finally {
        isCompacting.value = false
        live.reload()
      }
    })
  return html`<${Shown} live=${live} empty="" isEmpty=${() => false}>
    ${(usage: ContextUsage) => html`
      <${Bar} usage=${usage} />
      <table class="figures">
        <caption>Parts of the next request, estimated</caption>
        <thead><tr><th scope="col">Part</th><th scope="col">Tokens</th><th scope="col">Share</th></tr></thead>
        <tbody>
          ${parts.map(
            ([name, title]) => html`<tr key=${name}>
              <th scope="row"><span class="part-swatch" data-part=${name}></span>${title}</th>
              <td>${count(usage.parts[name])}</td>
              <td>${share(usage.parts[name], usage.limit)}</td>
            </tr>`,
          )}
          <tr><th scope="row"><span class="part-swatch"></span>Free</th><td>${count(usage.free)}</td><td>${share(usage.free, usage.limit)}</td></tr>
        </tbody>
      </table>
      <p hidden=${!mayChange(open.session())}>
        <button type="button" disabled=${isBusy} onClick=${compact}>${isCompacting.value ? "Compacting…" : "Compact now"}</button>
        <span class="dim"> The model then gets a summary instead of the older messages, which stay stored.</span>
      </p>`}
  <//>`
}

function Bar({ usage }: { usage: ContextUsage }) {
  const { used, limit, window, model } = usage
  const words = `${count(used)} of ${count(limit)} tokens (${share(used, limit)})`
  // Estimates may add up to more than the limit.
  const whole = Math.max(limit, sumOf(usage), 1)
  return html`<figure class="window">
    <figcaption>
      <strong>${words}</strong>
      <span class="dim">${model ? ` ${model},` : ""} window of ${count(window)}; compacted above ${count(limit)}</span>
    </figcaption>
    <div class="window-bar" role="img" aria-label=${`The context has ${words}`}>
      ${parts.map(([name, title]) =>
        usage.parts[name] > 0
          ? html`<span
              key=${name}
              data-part=${name}
              title=${`${title}: ${count(usage.parts[name])}`}
              style=${{ width: `${(usage.parts[name] / whole) * 100}%` }}
            ></span>`
          : null,
      )}
    </div>
  </figure>`
}

function sumOf({ parts: sizes }: ContextUsage): number {
  return parts.reduce((sum, [name]) => sum + sizes[name], 0)
}

function share(value: number, whole: number): string {
  return whole > 0 ? `${((value / whole) * 100).toFixed(value && value < whole / 100 ? 1 : 0)} %` : ""
}
