// The text with its undo steps and its kill ring.
import {
  between,
  type Document,
  empty,
  type Fragment,
  fragmentOf,
  insert,
  isBefore,
  type Place,
  remove,
} from "./document.ts"
import { kindOf } from "./motions.ts"

/** What the last key did. Typing a word is one step; so are deletions, and kills that follow each other. */
type Doing = "typing" | "deleting" | "killing" | "yanking" | "other"

const maxSteps = 1_000
const maxKills = 50

export type Text = ReturnType<typeof createText>

export function createText() {
  let document = empty
  let undone: Document[] = []
  const steps: Document[] = []
  const kills: Fragment[] = []
  let doing: Doing = "other"
  let yanked = 0

  return Object.freeze({
    get document() {
      return document
    },
    move,
    type,
    replace,
    insertAll,
    erase,
    kill,
    yank,
    yankEarlier,
    undo,
    redo,
  })

  function move(place: Place): void {
    document = { ...document, caret: place }
    doing = "other"
  }

  function type(text: string): void {
    const { line, at } = document.caret
    const before = document.lines[line]![at - 1]
    const isNewWord = before !== undefined && kindOf(before) === "blank" && kindOf(text) !== "blank"
    if (doing !== "typing" || isNewWord) remember()
    doing = "typing"
    document = insert(document, fragmentOf(text))
  }

  function insertAll(added: Fragment): void {
    replace(insert(document, added))
  }

  /** Another document, as one step. */
  function replace(next: Document): void {
    remember()
    doing = "other"
    document = next
  }

  /** Deletes up to a place, without the kill ring. */
  function erase(to: Place): void {
    if (isSame(to)) return
    if (doing !== "deleting") remember()
    doing = "deleting"
    document = remove(document, document.caret, to)
  }

  function kill(to: Place): void {
    if (isSame(to)) return
    const killed = between(document, document.caret, to)
    const isBack = isBefore(to, document.caret)
    const last = doing === "killing" ? kills.shift() : undefined
    kills.unshift(last === undefined ? killed : isBack ? joined(killed, last) : joined(last, killed))
    kills.splice(maxKills)
    remember()
    doing = "killing"
    document = remove(document, document.caret, to)
  }

  function yank(): void {
    if (kills.length === 0) return
    yanked = 0
    insertAll(kills[0]!)
    doing = "yanking"
  }

  /** Right after a yank only. */
  function yankEarlier(): void {
    if (doing !== "yanking" || kills.length < 2) return
    yanked = (yanked + 1) % kills.length
    document = insert(steps.at(-1)!, kills[yanked]!)
  }

  function undo(): void {
    const before = steps.pop()
    if (!before) return
    undone.push(document)
    document = before
    doing = "other"
  }

  function redo(): void {
    const next = undone.pop()
    if (!next) return
    steps.push(document)
    document = next
    doing = "other"
  }

  function remember(): void {
    undone = []
    steps.push(document)
    if (steps.length > maxSteps) steps.shift()
  }

  function isSame(place: Place): boolean {
    return place.line === document.caret.line && place.at === document.caret.at
  }
}

function joined(first: Fragment, second: Fragment): Fragment {
  return insert({ lines: first, caret: { line: first.length - 1, at: first.at(-1)!.length } }, second).lines
}
