// A button that copies a text.
import { useSignal } from "@preact/signals"
import { html } from "#edge/web/base/html.ts"
import { attempt } from "#edge/web/store/problems.ts"

/** Milliseconds for which the button says that it has copied. */
const shown = 1_500

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const isCopied = useSignal(false)
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(text)
      isCopied.value = true
      setTimeout(() => {
        isCopied.value = false
      }, shown)
    })
  return html`<button type="button" class="small" onClick=${copy}>${isCopied.value ? "Copied" : label}</button>`
}
