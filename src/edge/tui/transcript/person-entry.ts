// What a person sent: a prompt, or a command with `!` and its output.
import type { TextMessage } from "#client/client.ts"
import type { View } from "#edge/tui/screen/line.ts"
import { safe } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"
import type { Entry } from "./entries.ts"
import { type Folded, foldLines, foldText, noOutput, plainLines } from "./fold.ts"
import { createFinished } from "./note-entry.ts"
import { userLines } from "./text-entry.ts"

/** A prompt of more lines is folded. */
const maxPrompt = 20
/** Lines and characters of the output that are kept while a command runs. */
const [maxRunning, maxOutput] = [6, 8_000]

export function createPrompt(text: string, fold: (folded: Folded) => void): Entry {
  const title = safe(text.trim().split("\n", 1)[0]!)
  const draw = (given: View) =>
    foldLines(title, (wide) => userLines(text, wide), { view: given, most: maxPrompt })
  return createFinished("user", draw, fold)
}

/** While the command runs: the command, and the last lines of its output. The first text is the command. */
export function createRunningShell() {
  let command: string | undefined
  let output = ""
  let isEnded = false
  return {
    kind: "user" as const,
    isDone: () => isEnded,
    take: () => [],
    tail(view: View) {
      if (isEnded) return []
      const lines = plainLines(output).slice(-maxRunning)
      return [
        ...userLines(command ?? "!", view),
        ...lines.map((line) => view.paint("dim", cutTo(`  ${line}`, view.columns))),
      ]
    },
    report(text: string) {
      if (command === undefined && text.startsWith("! ")) command = text
      else output = (output + text).slice(-maxOutput)
    },
    end() {
      isEnded = true
    },
  }
}

export function createShell({ data }: TextMessage, fold: (folded: Folded) => void): Entry {
  const command = data.origin?.name ?? ""
  const text = data.parts.map((part) => part.text).join("\n")
  // The first line is ours; the output could claim anything.
  const code = /^.* It ended with exit code (\S+)\.\n/.exec(text)?.[1]
  const output = /<output>\n(.*)\n<\/output>$/s.exec(text)?.[1] ?? ""
  const draw = (given: View) => {
    const shown = foldText(command, output === noOutput ? "" : output, given, data.origin?.colors)
    const end = code === "none" ? "stopped" : `exit ${code}`
    const failed = code === undefined ? [] : [given.paint("error", cutTo(`  ✗ ${end}`, given.columns))]
    return { ...shown, lines: [...userLines(`! ${command}`, given), ...shown.lines, ...failed] }
  }
  return createFinished("user", draw, fold)
}
