// The actions that move the caret or delete, by the place that they go to.
import type { Action } from "#edge/tui/input/actions.ts"
import type { Document, Place } from "./document.ts"
import {
  blankWordLeft,
  left,
  lineEnd,
  lineEndOrRight,
  lineStart,
  lineStartOrLeft,
  right,
  textEnd,
  textStart,
  wordLeft,
  wordRight,
} from "./motions.ts"
import type { Text } from "./text.ts"

type Motion = (document: Document) => Place
type Motions = Partial<Record<Action, Motion>>

const moves: Motions = {
  "editor.left": left,
  "editor.right": right,
  "editor.wordLeft": wordLeft,
  "editor.wordRight": wordRight,
  "editor.lineStart": lineStart,
  "editor.lineEnd": lineEnd,
  "editor.textStart": textStart,
  "editor.textEnd": textEnd,
}
const erasures: Motions = { "editor.deleteBack": left, "editor.deleteForward": right }
const kills: Motions = {
  "editor.deleteWordBack": wordLeft,
  "editor.deleteBlankWordBack": blankWordLeft,
  "editor.deleteWordForward": wordRight,
  "editor.deleteToLineStart": lineStartOrLeft,
  "editor.deleteToLineEnd": lineEndOrRight,
}
const steps: Partial<Record<Action, "undo" | "redo" | "yank" | "yankEarlier">> = {
  "editor.undo": "undo",
  "editor.redo": "redo",
  "editor.yank": "yank",
  "editor.yankEarlier": "yankEarlier",
}

/** Performs the action. Returns false if it is not one of these. */
export function edit(text: Text, action: Action): boolean {
  const { document } = text
  const [move, erasure, kill, step] = [moves[action], erasures[action], kills[action], steps[action]]
  if (move) text.move(move(document))
  if (erasure) text.erase(erasure(document))
  if (kill) text.kill(kill(document))
  if (step) text[step]()
  return Boolean(move ?? erasure ?? kill ?? step)
}
