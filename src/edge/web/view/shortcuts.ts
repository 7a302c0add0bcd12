// Shortcuts of the keyboard, and the dialog that lists them. Single keys do nothing while a person types, and can be turned
// off (WCAG 2.1.4).
import { signal } from "@preact/signals"
import { html } from "#edge/web/base/html.ts"
import { go } from "#edge/web/base/router.ts"
import { Dialog } from "#edge/web/part/dialog.ts"
import { hasKeys } from "./theme.ts"

export const isHelpOpen = signal(false)

const keys: Record<string, { text: string; run(): void }> = {
  "?": {
    text: "Show the shortcuts",
    run: () => {
      isHelpOpen.value = true
    },
  },
  "/": {
    text: "Search in the view",
    run: () => document.querySelector<HTMLElement>("main [type=search]")?.focus(),
  },
  s: { text: "Sessions", run: () => go("/") },
  t: { text: "Stats", run: () => go("/stats") },
  e: { text: "Events", run: () => go("/events") },
  v: { text: "Server", run: () => go("/server") },
}

addEventListener("keydown", (event) => {
  if (!hasKeys.value || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (isTyping(event.target) || document.querySelector("dialog[open]")) return
  const key = keys[event.key]
  if (!key) return
  event.preventDefault()
  key.run()
})

export function Shortcuts() {
  if (!isHelpOpen.value) return null
  const close = () => {
    isHelpOpen.value = false
  }
  return html`<${Dialog} title="Shortcuts" onClose=${close}>
    ${() => html`
      <dl class="facts">
        ${Object.entries(keys).map(([key, { text }]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked=${hasKeys.value}
          onChange=${(event: Event) => {
            hasKeys.value = (event.target as HTMLInputElement).checked
          }}
        />
        Single keys are shortcuts
      </label>
    `}
  <//>`
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
