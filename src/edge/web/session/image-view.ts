// An image of a message. Only bitmaps are shown: an SVG is a document.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { attachmentWords } from "#client/attachment-words.ts"
import type { ImageMessage } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"

export const bitmap = /^image\/(?:png|jpeg|gif|webp)$/

export function ImageView({ message, open }: { message: ImageMessage; open: OpenSession }) {
  const { stored, state, recognizedText, visionAnalysis } = message.data
  const source = useSignal("")
  const isLarge = useSignal(false)
  const problem = useSignal("")
  const hash = stored && bitmap.test(stored.mimeType) ? stored.hash : undefined
  useEffect(() => {
    if (hash === undefined) return
    open.client.getImage({ id: open.id, hash }).then(
      ({ mimeType, data }) => {
        if (bitmap.test(mimeType)) source.value = `data:${mimeType};base64,${data}`
        else problem.value = `${mimeType} is not shown.`
      },
      (error: Error) => {
        problem.value = error.message
      },
    )
  }, [hash])
  const words = attachmentWords(message) ?? (state === "pending" ? "· an image" : "")
  const read = [visionAnalysis, recognizedText].filter(Boolean).join("\n")
  return html`<figure class="picture">
    ${
      hash === undefined
        ? null
        : html`<button
            type="button"
            class="frame"
            data-large=${isLarge.value}
            aria-label=${isLarge.value ? "Show the image smaller" : "Show the image larger"}
            onClick=${() => {
              isLarge.value = !isLarge.value
            }}
          >
            ${source.value ? html`<img src=${source.value} alt=${(visionAnalysis || recognizedText || "Attached image").slice(0, 300)} />` : null}
          </button>`
    }
    <figcaption class="dim">${words}${problem.value ? ` ${problem.value}` : ""}${stored && hash === undefined ? ` (${stored.mimeType} is not shown)` : ""}</figcaption>
    ${read ? html`<details class="dim"><summary>What was recognised</summary><pre class="output">${read}</pre></details>` : null}
  </figure>`
}
