// Images that a person pastes, drops or chooses for a prompt, with a preview, until it is sent.
import type { Signal } from "@preact/signals"
import type { PromptPart } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import { report } from "#edge/web/store/problems.ts"
import { bitmap } from "./image-view.ts"

export type Picture = { id: number; name: string; mimeType: string; base64: string }

/** The server shows no larger ones. */
const maxBytes = 5 << 20
const maxPictures = 10
let next = 1

export async function addPictures(
  pictures: Signal<readonly Picture[]>,
  files: readonly File[],
): Promise<void> {
  for (const file of files) {
    const problem = !bitmap.test(file.type)
      ? "is no PNG, JPEG, GIF or WebP image"
      : file.size > maxBytes
        ? "has more than 5 MB"
        : pictures.value.length >= maxPictures
          ? `is one too many: at most ${maxPictures} images`
          : undefined
    if (problem) {
      report(`${file.name || "The image"} ${problem}.`)
      continue
    }
    // First: other images may come, or be removed, while this one is read.
    const base64 = await base64Of(file)
    pictures.value = [...pictures.value, { id: next++, name: file.name, mimeType: file.type, base64 }]
  }
}

export function partsOf(pictures: readonly Picture[]): PromptPart[] {
  return pictures.map(({ mimeType, base64 }) => ({
    type: "image",
    source: { kind: "base64", value: base64, mimeType },
    mode: "auto",
  }))
}

export function Pictures({ pictures }: { pictures: Signal<readonly Picture[]> }) {
  return html`<ul class="pictures" aria-label="Attached images">
    ${pictures.value.map(
      ({ id, name, mimeType, base64 }) => html`<li key=${id}>
        <img src=${`data:${mimeType};base64,${base64}`} alt=${name || "Image"} />
        <button
          type="button"
          aria-label=${`Remove ${name || "the image"}`}
          onClick=${() => {
            pictures.value = pictures.value.filter((one) => one.id !== id)
          }}
        >
          ×
        </button>
      </li>`,
    )}
  </ul>`
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
