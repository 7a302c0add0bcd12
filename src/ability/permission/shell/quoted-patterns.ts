// Patterns in quotes for tools that work on text: the `.*` of sed and awk is no name of a file that the shell would fill
// in. Only where everything in a line is such a tool; what another one makes of its words nobody knows.
import { isRiskyAwk } from "./risky-awk.ts"
import { isRisky } from "./risky-command.ts"
import { isRiskySed } from "./risky-sed.ts"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

const list = (text: string) => new Set(text.split(" "))
const tools = list(
  "sed awk gawk mawk grep egrep fgrep rg sort uniq cut tr cat head tail wc nl tac rev paste comm join column ls diff stat file find",
)
/** They stand beside them, and what they are given stays as it is. */
const beside = list("cd echo printf test [ true false : pwd")
const asking = list("log diff show status ls-files rev-parse rev-list grep blame describe shortlog")
/** Nobody writes so many, and the line is searched for each. */
const maxPatterns = 50
const special = /[$*?{}[\]]/g

/** The line with such patterns made harmless, in the quotes in which they stand; the same line where that is not sure. */
export function withoutQuotedPatterns(line: string): string {
  const { commands, unclear } = splitCommand(line)
  if (unclear !== undefined || !commands.every((command) => isTool(command) || isBeside(command))) return line
  const counts = new Map<string, number>()
  for (const { text, isLiteral } of commands.filter(isTool).flatMap(({ words }) => words))
    if (isLiteral && text.search(special) >= 0) counts.set(text, (counts.get(text) ?? 0) + 1)
  if (counts.size > maxPatterns) return line
  let rest = line
  for (const [text, count] of counts) {
    const forms = [`'${text}'`, `"${text}"`]
    const found = forms.reduce((sum, form) => sum + line.split(form).length - 1, 0)
    // Once more than there are words of it: between two other quotes, where it is not quoted.
    if (found !== count) continue
    for (const form of forms) rest = rest.replaceAll(form, form.replace(special, "_"))
  }
  return rest
}

function isTool(command: SimpleCommand): boolean {
  const [name, ...args] = command.words
  if (!name?.isLiteral || command.sets) return false
  if (name.text === "git") return asking.has(args[0]?.text ?? "") && !isRisky(command)
  if (!tools.has(name.text)) return false
  // To change a file in place is to write, not to run: what is looked at here is where.
  if (name.text === "sed") return !args.some((arg) => /^-(\w*f|-f)/.test(arg.text)) && !isRiskySed(args)
  if (/awk$/.test(name.text)) return !isRiskyAwk(args)
  return !isRisky(command)
}

function isBeside({ words: [name], sets }: SimpleCommand): boolean {
  return !sets && (name === undefined || (name.isLiteral && beside.has(name.text)))
}
