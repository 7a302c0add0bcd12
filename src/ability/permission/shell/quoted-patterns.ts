// Recognises quoted patterns of text tools, such as `.*` for sed, which the shell does not expand to file names. This
// works only if every command of the line is such a tool, because other programs may expand their words themselves.
import { isRiskyAwk } from "./risky-awk.ts"
import { isRisky } from "./risky-command.ts"
import { isRiskySed } from "./risky-sed.ts"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

const list = (text: string) => new Set(text.split(" "))
const tools = list(
  "sed awk gawk mawk grep egrep fgrep rg sort uniq cut tr cat head tail wc nl tac rev paste comm join column ls diff stat file find",
)
/** Other commands that do not expand their arguments. */
const beside = list("cd echo printf test [ true false : pwd")
const asking = list("log diff show status ls-files rev-parse rev-list grep blame describe shortlog")
/** The line is searched once for each pattern. */
const maxPatterns = 50
const special = /[$*?{}[\]]/g

/** Replaces the special characters of such patterns by "_". Returns the same line if that is uncertain. */
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
    // If it occurs more often than there are such words, one occurrence may be unquoted, between two other quotes.
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
  // Changing a file in place writes but does not run anything: only the place matters here.
  if (name.text === "sed") return !args.some((arg) => /^-(\w*f|-f)/.test(arg.text)) && !isRiskySed(args)
  if (/awk$/.test(name.text)) return !isRiskyAwk(args)
  return !isRisky(command)
}

function isBeside({ words: [name], sets }: SimpleCommand): boolean {
  return !sets && (name === undefined || (name.isLiteral && beside.has(name.text)))
}
