// Why a command is more than its name says, in the words that a person reads who is to decide about it.
import { outsideTargets, type Place } from "./outside-targets.ts"
import { isRisky } from "./risky-command.ts"
import type { SimpleCommand } from "./split-command.ts"
import { unwrap } from "./unwrap.ts"

const maxTarget = 100

export function riskOf(command: SimpleCommand, place: Place): string | undefined {
  const { words, writes, sets } = command
  if (sets) return "sets a variable that decides what runs"
  if (writes) return "writes a file"
  if (words[0]?.isLiteral === false) return "which program it runs is not known yet"
  if (isRisky(command)) return "by its options or script it can run programs or write files"
  const [outside] = outsideTargets(command, place)
  if (outside !== undefined) return `reaches outside of the workspace: ${outside.slice(0, maxTarget)}`
  return unwrap(command) === "unknown" ? "runs a command that cannot be read" : undefined
}
