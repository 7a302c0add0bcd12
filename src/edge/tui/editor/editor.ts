// The editor of the prompt. It knows nothing of the terminal: keys go in, rows and the place of the caret come out.
import type { Action } from "#edge/tui/input/actions.ts"
import type { Key } from "#edge/tui/input/key.ts"
import type { Keymap } from "#edge/tui/input/keymap.ts"
import type { Paint } from "#edge/tui/screen/line.ts"
import { clustersOf } from "#edge/tui/screen/width.ts"
import { type Complete, createCompletion } from "./completion.ts"
import { documentOf, empty, endOf, isEmpty, type Marker, markersOf, textOf } from "./document.ts"
import { edit } from "./editing.ts"
import { left } from "./motions.ts"
import { cleanText, imageMarker, pastedFragment } from "./paste.ts"
import { type Attachment, attachmentsOf, keptText, type Prompt, promptOf, withMarkers } from "./prompt.ts"
import { createRecall, type History } from "./recall.ts"
import { cellOf, heightOf, placeIn, rowsFrom } from "./rows.ts"
import { createSearch, type Search } from "./search.ts"
import { createText } from "./text.ts"
import { type EditorView, textWidth, viewChoices, viewSearch, viewText } from "./view.ts"

/** What the program does after a key. An action is one that the editor has no use for. */
export type Result =
  | { do: "nothing" | "draw" }
  | { do: "send"; prompt: Prompt }
  | { do: "action"; action: Action }

type Options = {
  keymap: Pick<Keymap, "actionsOf" | "forget">
  paint: Paint
  history: History
  complete: Complete
  /** Whether a pasted path is a file. */
  isFile: (path: string) => boolean
  /** A list has arrived: draw. */
  onChange: () => void
}

const drawn: Result = { do: "draw" }

export function createEditor({ keymap, paint, history, complete, isFile, onChange }: Options) {
  const text = createText()
  const recall = createRecall(history)
  const completion = createCompletion({ complete, onChange })
  let search: Search | undefined
  let width = textWidth(80)
  let top = 0
  /** The column that moving up and down returns to. */
  let sticky: number | undefined

  return Object.freeze({
    handle,
    view,
    set,
    add,
    /** With the pastes in full. */
    get text(): string {
      return textOf(text.document.lines)
    },
    get attachments(): Attachment[] {
      return attachmentsOf(text.document.lines)
    },
  })

  function handle(key: Key): Result {
    const wanted = keymap.actionsOf(key)
    const typed = key.ctrl || key.alt ? "" : cleanText(key.text ?? "")
    if (search && isForSearch(search, key, wanted, typed)) {
      // Escape and Ctrl-C have closed the search: they count for nothing else.
      keymap.forget()
      return drawn
    }
    if (key.name === "paste") return change(() => text.insertAll(pastedFragment(key.text ?? "", isFile)))
    const result = completion.choices.length > 0 ? forList(wanted) : undefined
    if (result) {
      keymap.forget()
      return result
    }
    for (const action of wanted) {
      const done = run(action)
      if (done) return done
    }
    // A person may bind another key to sending.
    if (key.name === "enter" && wanted.length === 0) return breakLine()
    return typed === "" || wanted.length > 0 ? { do: "nothing" } : change(() => text.type(typed))
  }

  /** Replaces the text, as one step that can be undone. */
  function set(next: string): void {
    put(next, markersOf(text.document.lines))
  }

  /** Below what is written. An image is where its label is in the text, or at the end. */
  function add(more: string, images: readonly string[]): void {
    const markers = images.map(imageMarker)
    const unnamed = markers.filter(({ label }) => !more.includes(label)).map(({ label }) => label)
    const { lines } = text.document
    const whole = [textOf(lines), [more, ...unnamed].filter(Boolean).join(" ")].filter(Boolean).join("\n")
    put(whole, [...markersOf(lines), ...markers])
  }

  function put(next: string, markers: readonly Marker[]): void {
    text.replace(withMarkers(documentOf(cleanText(next)), markers))
    sticky = undefined
    completion.hide()
  }

  function view(columns: number, maxRows: number): EditorView {
    width = textWidth(columns)
    const rows = Math.max(1, maxRows)
    if (search) return viewSearch(search, { columns, rows, paint })
    const { choices, selected } = completion
    const needed = heightOf(text.document, width)
    const free = choices.length ? Math.max(rows - needed, rows >> 1) : 0
    const list = free > 0 ? viewChoices(choices, selected, { columns, rows: free, paint }) : []
    const shown = viewText(text.document, top, { columns, rows: rows - list.length, paint })
    top = shown.top
    return { lines: [...shown.lines, ...list], caret: shown.caret }
  }

  function run(action: Action): Result | undefined {
    if (action === "app.send") return send()
    if (action === "app.newline") return breakLine()
    if (action === "app.quit" && !isEmpty(text.document)) return undefined
    if (action === "app.clear" && !isEmpty(text.document)) return clear()
    if (action.startsWith("app.")) return { do: "action", action }
    if (action === "history.search") {
      search = createSearch(history.entries)
      return drawn
    }
    if (action === "history.back" || action === "history.forward")
      return remembered(action === "history.back")
    if (action === "editor.complete") return completion.open(text.document) ? drawn : { do: "nothing" }
    if (action === "editor.up" || action === "editor.down") return vertical(action === "editor.up")
    return change(() => edit(text, action))
  }

  function change(make: () => void): Result {
    const { lines } = text.document
    make()
    sticky = undefined
    if (text.document.lines === lines) completion.hide()
    else completion.update(text.document)
    return drawn
  }

  function clear(): Result {
    recall.end()
    return change(() => text.replace(empty))
  }

  function breakLine(): Result {
    return change(() => text.insertAll([[], []]))
  }

  function send(): Result {
    const { document } = text
    const { lines, caret } = document
    const line = lines[caret.line]!
    if (caret.at === line.length && line.at(-1) === "\\")
      return change(() => {
        text.erase(left(document))
        text.insertAll([[], []])
      })
    const prompt = promptOf(document)
    if (!prompt) return { do: "nothing" }
    const kept = keptText(document)
    if (kept !== undefined && kept !== history.entries.at(-1)) history.add(kept)
    clear()
    return { do: "send", prompt }
  }

  /** By rows as they are shown. Beyond the first and the last row are earlier and later prompts. */
  function vertical(isUp: boolean): Result {
    const { document } = text
    const cell = cellOf(document, width)
    const next = cell.row + (isUp ? -1 : 1)
    const [row] = next < 0 ? [] : rowsFrom(document, width, next, 1)
    if (!row) return remembered(isUp)
    const column = sticky ?? cell.column
    change(() => text.move(placeIn(document, row, column, width)))
    sticky = column
    return drawn
  }

  function remembered(isBack: boolean): Result {
    const found = recall.go(isBack ? 1 : -1, text.document)
    if (!found) return { do: "nothing" }
    change(() => text.replace({ ...found, caret: endOf(found.lines) }))
    completion.hide()
    // The next key of the same kind must leave a text of several rows.
    const [first] = rowsFrom(found, width, 0, 1)
    if (isBack) text.move(placeIn(found, first!, width, width))
    return drawn
  }

  function forList(wanted: Action[]): Result | undefined {
    if (wanted.includes("editor.up")) completion.move(-1)
    else if (wanted.includes("editor.down")) completion.move(1)
    else if (wanted.includes("app.stop")) completion.close()
    else if (wanted.includes("editor.complete") || (wanted.includes("app.send") && !completion.isTyped())) {
      const isWhole = !wanted.includes("editor.complete") && completion.isArgument()
      change(() => text.replace(completion.accept(text.document)))
      if (isWhole) return send()
    } else return undefined
    return drawn
  }

  /** Whether the key belongs to the search. Any other key ends it, and moving takes the match along. */
  function isForSearch(open: Search, key: Key, wanted: Action[], typed: string): boolean {
    const has = (...actions: Action[]) => actions.some((action) => wanted.includes(action))
    if (has("history.search", "editor.up", "history.back")) open.go(1)
    else if (has("editor.down", "history.forward")) open.go(-1)
    else if (has("editor.deleteBack")) open.setQuery(clustersOf(open.query).slice(0, -1).join(""))
    else if (has("app.stop", "app.clear")) search = undefined
    else if (typed !== "" && (wanted.length === 0 || key.name === "paste"))
      open.setQuery(open.query + typed.replaceAll("\n", " "))
    else {
      const isTaken = has("app.send", "editor.complete")
      const { match } = open
      if (match && (isTaken || wanted.some((action) => action.startsWith("editor."))))
        text.replace(documentOf(match.text))
      search = undefined
      return isTaken
    }
    return true
  }
}
