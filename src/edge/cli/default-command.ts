// `vitamin "fix the bug"`, `vitamin -p "fix the bug"` and `vitamin -c "go on"` mean `vitamin run …`.
import { nearest } from "#util/nearest.ts"
import { UsageError } from "./exit.ts"

/** The commands that yargs knows; a test keeps them equal to what --help lists. */
export const commandNames = [
  ...["run", "session", "models", "agent", "permission", "tool", "skill", "mcp", "auth"],
  ...["serve", "acp", "config", "trust", "doctor"],
]
/** Options that may come before a command, and whether they take a value. */
const shared = new Map([
  ["--dir", true],
  ["--log-level", true],
  ["--log-file", true],
  ["--trust", false],
])
const answeredByYargs = new Set(["--help", "-h", "--version", "-v"])

/** The command line with `run` in it where it names no command. */
export function withDefaultCommand(args: string[]): string[] {
  let place = 0
  while (place < args.length && shared.has(args[place]!.split("=", 1)[0]!))
    place += shared.get(args[place]!) ? 2 : 1
  const first = args[place]
  const isLeftAlone = first === undefined || commandNames.includes(first) || answeredByYargs.has(first)
  if (isLeftAlone || args.includes("--help")) return args
  refuseMisspelt(first, args.slice(place + 1))
  // `run` prints the answer and ends, which is what -p asks for.
  const end = args.indexOf("--")
  const isPrint = (word: string, at: number) => /^(-p|--print)$/.test(word) && (end < 0 || at < end)
  return ["run", ...args.filter((word, at) => !isPrint(word, at))]
}

/** One word that is nearly a command is a misspelling, not a prompt. */
function refuseMisspelt(first: string, rest: string[]): void {
  const isWord = /^[\w-]+$/.test(first) && !first.startsWith("-")
  const hasOtherWords = rest.some((word) => /\s/.test(word))
  const meant = isWord && !hasOtherWords && nearest(first, commandNames)
  if (meant)
    throw new UsageError(
      `"${first}" is not a command. Did you mean: vitamin ${meant}? To send it as a prompt: vitamin run "${first}"`,
    )
}
