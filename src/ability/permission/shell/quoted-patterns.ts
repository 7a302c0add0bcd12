// Quoted patterns for text tools: the `.*` of sed and awk is no file name that the shell would expand. Applies only
// if every command of a line is such a tool; others may use their words in any way.
import { isRiskyAwk } from "./risky-awk.ts"
import { isRisky } from "./risky-command.ts"
import { isRiskySed } from "./risky-sed.ts"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

const list = (text: string) => new Set(text.split(" "))
const tools = list(
  "sed awk gawk mawk grep egrep fgrep rg sort uniq cut tr cat head tail wc nl tac rev paste comm join column ls diff stat file find",
)
/** Commands that may stand beside them, and that do not expand their arguments. */
const beside = list("cd echo printf test [ true false : pwd")
const asking = list("log diff show status ls-files rev-parse rev-list grep blame describe shortlog")
/** Nobody writes so many, and the line is searched for each. */
const maxPatterns = 50
const special = /[$*?{}[\]]/g

/** The line with such patterns made harmless, inside their quotes; the same line if that is uncertain. */
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
    // One more occurrence than words: it also occurs between two other quotes, unquoted.
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
