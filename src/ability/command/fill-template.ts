// Fills the text of a command: `$ARGUMENTS`, `$1` to `$9`, and the lines that a shell runs (`` !`…` ``). Arguments are
// inserted once and never read again, so an argument cannot add a line for the shell.

/** A piece of a filled command: text for the model, or a shell line whose output takes its place. */
export type Segment = { text: string } | { line: string }
export type Filled = { segments: Segment[]; problems: string[] }

/** Shell lines of one command. More are not run. */
const maxLines = 20
/** Characters of a filled command. Arguments may be inserted many times. */
const maxText = 200_000
const shellLine = /(?<![\w`\\])!`([^`\n]+)`/g
const placeholder = /(\\?)\$(?:ARGUMENTS\b(?:\[(\d{1,2})\])?|([1-9])(?!\d))/g

/** `name` is for problems. Arguments that the text has no place for follow it, as other tools do it. */
export function fillTemplate(name: string, template: string, given: string): Filled {
  const words = splitArguments(given)
  const problems: string[] = []
  const missing = new Set<number>()
  let isUsed = false
  let budget = maxText
  const insert = (text: string) =>
    text.replace(placeholder, (whole, backslash: string, index?: string, digit?: string) => {
      if (backslash) return whole.slice(1)
      isUsed = true
      const at = digit === undefined ? (index === undefined ? undefined : Number(index)) : Number(digit) - 1
      const value = at === undefined ? given : words[at]
      if (value === undefined) missing.add(at! + 1)
      const part = (value ?? "").slice(0, Math.max(0, budget))
      budget -= part.length
      return part
    })
  const segments = split(template).map(
    (one): Segment => ("line" in one ? { line: insert(one.line) } : { text: insert(one.text) }),
  )
  if (!isUsed && given) segments.push({ text: `\n\n${given.slice(0, budget)}` })
  if (missing.size)
    problems.push(
      `/${name} uses argument ${[...missing].sort().join(", ")}, but got ${words.length}; what is missing is empty`,
    )
  if (budget <= 0) problems.push(`/${name} is cut: its arguments would fill more than ${maxText} characters`)
  const lines = segments.filter((one) => "line" in one)
  if (lines.length <= maxLines) return { segments, problems }
  problems.push(`/${name} has ${lines.length} shell lines; only the first ${maxLines} are run`)
  const left = new Set(lines.slice(maxLines))
  return {
    segments: segments.map((one) =>
      "line" in one && left.has(one) ? { text: `(not run: \`${one.line}\`)` } : one,
    ),
    problems,
  }
}

/** The text of a filled command, with `show` for its shell lines. */
export function textOf(segments: readonly Segment[], show: (segment: { line: string }) => string): string {
  return segments.map((one) => ("line" in one ? show(one) : one.text)).join("")
}

function split(template: string): Segment[] {
  const found: Segment[] = []
  let from = 0
  for (const match of template.matchAll(shellLine)) {
    found.push({ text: template.slice(from, match.index) }, { line: match[1]! })
    from = match.index + match[0].length
  }
  found.push({ text: template.slice(from) })
  return found.filter((one) => "line" in one || one.text !== "")
}

/** Splits at blanks as a shell does: quotes keep words together, a backslash keeps the next character. A quote that is not
 * closed is an ordinary character. */
export function splitArguments(given: string): string[] {
  const words: string[] = []
  const word = /(?:"((?:\\[\s\S]|[^"\\])*)"|'([^']*)'|\\([\s\S])|([^\s]))/g
  let current: string | undefined
  let end = 0
  for (const match of given.matchAll(word)) {
    const [whole, double, single, escaped, plain] = match
    if (current !== undefined && match.index > end) {
      words.push(current)
      current = undefined
    }
    end = match.index + whole.length
    current = (current ?? "") + (double?.replace(/\\(["\\])/g, "$1") ?? single ?? escaped ?? plain ?? "")
  }
  return current === undefined ? words : [...words, current]
}
