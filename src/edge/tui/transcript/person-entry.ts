// What a person sent: a prompt, or a command with `!` and its output.
import type { TextMessage } from "#client/client.ts"
import type { View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import type { Entry } from "./entries.ts"
import { type Folded, foldLines, foldText, noOutput } from "./fold.ts"
import { createFinished } from "./note-entry.ts"
import { userLines } from "./text-entry.ts"

/** A prompt of more lines is folded. */
const maxPrompt = 20

export function createPrompt(text: string, fold: (folded: Folded) => void): Entry {
  const title = safe(text.trim().split("\n", 1)[0]!)
  const draw = (given: View) =>
    foldLines(title, (wide) => userLines(text, wide), { view: given, most: maxPrompt })
  return createFinished("user", draw, fold)
}

export function createShell({ data }: TextMessage, fold: (folded: Folded) => void): Entry {
  const command = data.origin?.name ?? ""
  const text = data.parts.map((part) => part.text).join("\n")
  const output = /<output>\n(.*)\n<\/output>$/s.exec(text)?.[1] ?? ""
  const draw = (given: View) => {
    const shown = foldText(command, output === noOutput ? "" : output, given)
    return { ...shown, lines: [...userLines(`! ${command}`, given), ...shown.lines] }
  }
  return createFinished("user", draw, fold)
}
