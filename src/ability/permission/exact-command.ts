// Commands in an exact form: words with quotes where they need them. Rules are matched after quote removal, so `rm a
// b` and `rm "a b"` have one text; a grant must tell them apart.
import { exactCommands } from "./shell/judge-command.ts"
import { type SimpleCommand, splitCommand } from "./shell/split-command.ts"
import { maxInside, programOf, reach, unwrap } from "./shell/unwrap.ts"

const home = /(^|[=:])~/
const feeders = /^(xargs|parallel)$/
const shells = /^((ba|da|z|k|mk|a|c|tc|fi)?sh|pwsh)$/
const interpreters = /^(python[\d.]*|node|deno|bun|perl|ruby|php|lua|tclsh)$/
const input = /^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/\w+\/fd\/\d+)$/

/** The exact form of each command of a line, for a grant; "" for a command that cannot be granted. */
export function writtenCommands(line: string): string[] {
  const forms = formsOf(line)
  return exactCommands(line).map((text) => (text && forms.get(text)) ?? "")
}

/** Returns a function that converts the exact form of a command of the line into its text without quotes. */
export function readTexts(line: string): (form: string) => string | undefined {
  let texts: Map<string | undefined, string> | undefined
  return (form) => {
    texts ??= new Map([...formsOf(line)].map(([text, form]) => [form, text]))
    return texts.get(form)
  }
}

/** The exact forms of the commands of a line, by their text. Undefined if two commands with one text differ, or if it
 * is unclear. */
function formsOf(line: string): Map<string, string | undefined> {
  const forms = new Map<string, string | undefined>()
  for (const command of reach(splitCommand(line).commands)) {
    const form = formOf(command, line)
    const isOther = forms.has(command.text) && forms.get(command.text) !== form
    forms.set(command.text, isOther ? undefined : form)
  }
  return forms
}

function formOf(command: SimpleCommand, line: string): string | undefined {
  const { words } = command
  if (isFed(command)) return undefined
  const forms = words.map(({ text, isLiteral }) => {
    if (!isLiteral) return undefined
    if (!home.test(text)) return isPlain(text) ? text : quoted(text)
    // In quotes, "~" is a plain character; otherwise it is the person's home folder.
    return /["'\\]/.test(line) || !isPlain(text.replaceAll("~", "")) ? undefined : text
  })
  return forms.includes(undefined) ? undefined : forms.join(" ")
}

/** Character classes of Unicode are slow to create, so they are not created at the start. */
function isPlain(text: string): boolean {
  return /^[\p{L}\p{N}_@%+=:,./^-]+$/u.test(text)
}

/** Whether the command runs what it reads from its input: `sh`, `python3 -`, `sudo bash -s`, `xargs rm`. */
function isFed(command: SimpleCommand, depth = 0): boolean {
  const [name = "", ...rest] = command.words.map(({ text }) => text)
  const program = programOf(name)
  if (feeders.test(program)) return true
  if (shells.test(program) && (rest.includes("-s") || rest.every((word) => /^[-+]/.test(word)))) return true
  if (interpreters.test(program) && rest.every((word) => /^-([^-vVh].*)?$/.test(word))) return true
  if ((shells.test(program) || interpreters.test(program)) && rest.some((word) => input.test(word)))
    return true
  const inside = unwrap(command)
  return Array.isArray(inside) && depth < maxInside && inside.some((inner) => isFed(inner, depth + 1))
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
