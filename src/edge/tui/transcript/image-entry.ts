// An image of a message: a line about it, and in terminals with graphics the image below. Its bytes are asked for when it
// comes; what follows waits for them in the tail.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { type Picture, pictureLine, takes } from "#edge/tui/screen/picture.ts"
import type { Entry } from "./entries.ts"
import type { Told } from "./event-notes.ts"
import { noteLines } from "./note-entry.ts"

/** `loading` resolves to undefined if the image cannot be shown. `changed`: it is finished. */
export function createImage(told: Told, loading: Promise<Picture | undefined>, changed: () => void): Entry {
  let picture: Picture | undefined
  let isLoaded = false
  let isTaken = false
  void loading
    .then((found) => {
      picture = found
    })
    .catch(() => {})
    .finally(() => {
      isLoaded = true
      changed()
    })

  function take(view: View): Line[] {
    if (!isLoaded || isTaken) return []
    isTaken = true
    const shown = picture && pictureLine(picture, view)
    const why = picture && !takes(view.graphics, picture.mimeType) ? " (this terminal shows only PNG)" : ""
    return [...noteLines(told.text + why, told, view), ...(shown === undefined ? [] : [shown])]
  }

  return {
    kind: "note",
    isDone: () => isLoaded,
    take,
    tail: (view) => (isTaken ? [] : noteLines(told.text, told, view)),
  }
}
