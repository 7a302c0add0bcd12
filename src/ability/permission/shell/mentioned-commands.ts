// The commands that a line may run, as texts, for guards that must not miss one: nested ones, and each also by the plain
// name of its program and without its options. It may find too many.
import { createNestedCommands } from "./nested-commands.ts"
import { splitCommand } from "./split-command.ts"
import { programOf, reach, unwrap } from "./unwrap.ts"

/** Beginnings of the text after a word, in words: a command of so many words may be meant. */
const lengths = [1, 2, 3, 4, 20]

export function mentionedCommands(line: string): string[] {
  const { commands, unclear } = splitCommand(line)
  const all = reach(commands)
  const nested = createNestedCommands()
  const found = all.flatMap(({ words }) => nested(words.map(({ text }) => text)))
  // What it runs may be anywhere in its text.
  if (unclear !== undefined || all.some((command) => unwrap(command) === "unknown"))
    found.push(...anywhere(line))
  return [...new Set(found.flatMap(forms).filter(Boolean))]
}

function anywhere(line: string): string[][] {
  const words = line
    .replace(/["'\\]/g, "")
    .split(/[\s;&|(){}`<>]+/)
    .filter(Boolean)
  return words.flatMap((word, i) => {
    const plain = [programOf(word), ...words.slice(i + 1, i + lengths.at(-1)!)]
    return lengths.map((length) => plain.slice(0, length))
  })
}

/** `git -C . push` as it is, without options, and without options and the words after them, which may be their values. */
function forms(words: string[]): string[] {
  const isOption = (word: string | undefined) => word?.startsWith("-") === true
  const own = words.filter((word) => !isOption(word))
  const bare = words.filter((word, i) => {
    const isValue = isOption(words[i - 1]) && !words[i - 1]!.includes("=")
    return !isOption(word) && !isValue
  })
  return [words, own, bare].map((some) => some.join(" "))
}
