// A command that the person ran with `!`, and its output.
import type { TextMessage } from "#client/client.ts"
import type { View } from "#edge/tui/screen/line.ts"
import type { Entry } from "./entries.ts"
import { type Folded, foldText, noOutput } from "./fold.ts"
import { createFinished } from "./note-entry.ts"
import { userLines } from "./text-entry.ts"

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
