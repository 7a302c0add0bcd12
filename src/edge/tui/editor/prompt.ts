// What is sent of a document, and what is kept of it in the history.
import { nearest } from "#util/nearest.ts"
import {
  type Document,
  endOf,
  type Fragment,
  fragmentOf,
  type Marker,
  markersOf,
  textOf,
} from "./document.ts"

export type Attachment = { path: string; label: string }
/** `text` has the pastes in full. A shell line comes without its `!`. */
export type Prompt = { text: string; attachments: Attachment[]; isShell: boolean }

/** A longer prompt would make the history file large. */
const maxKept = 50_000

/** Undefined if there is nothing to send. */
export function promptOf({ lines }: Document): Prompt | undefined {
  const whole = textOf(lines)
  const isShell = whole.startsWith("!")
  const text = whole.slice(isShell ? 1 : 0).trim()
  return text === "" ? undefined : { text, attachments: attachmentsOf(lines), isShell }
}

export function attachmentsOf(lines: Fragment): Attachment[] {
  return markersOf(lines).flatMap(({ image, label }) => (image === undefined ? [] : [{ path: image, label }]))
}

/** A line that begins with a blank is not kept, as in shells, nor what follows /login. Images are kept as references to their files. */
export function keptText({ lines }: Document): string | undefined {
  const text = textOf(lines, (marker) => (marker.image === undefined ? marker.text : `@"${marker.image}"`))
  return /^\s/.test(text) || mayHaveKey(text) || text.length > maxKept ? undefined : text.trimEnd()
}

/** What follows /login, also misspelt, may be a key. */
function mayHaveKey(text: string): boolean {
  const name = /^\/(\S+)\s+\S/.exec(text)?.[1]
  return name !== undefined && nearest(name, ["login"]) !== undefined
}

/** A text that had markers for images, in another editor for example: the markers that are still in it. */
export function withMarkers(document: Document, markers: readonly Marker[]): Document {
  const images = Map.groupBy(
    markers.filter(({ image }) => image !== undefined),
    ({ label }) => label,
  )
  /** Of several images with one label, one after the other. */
  const next = (part: string) => {
    const found = images.get(part)
    return found && found.length > 1 ? found.shift() : found?.[0]
  }
  if (images.size === 0) return document
  const labels = [...images.keys()].map((label) => label.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
  const label = new RegExp(`(${labels.join("|")})`)
  const lines = document.lines.map((line) =>
    textOf([line])
      .split(label)
      .flatMap((part) => next(part) ?? fragmentOf(part)[0]!),
  )
  return { lines, caret: endOf(lines) }
}
