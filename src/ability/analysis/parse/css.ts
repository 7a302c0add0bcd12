// Parses style sheets and style attributes to declarations with offsets, as CSS Syntax reads them: comments, strings,
// brackets and blocks. It accepts every input.
import type { Report } from "#ability/analysis/term/finding.ts"

/** `selector` is that of the rule around it, "" in a style attribute. */
export type Declaration = { property: string; value: string; at: number; valueAt: number; selector: string }
type Rule = { selector: string; at: number }
/** `isInline`: of a style attribute. */
export type Sheet = { declarations: Declaration[]; rules: Rule[]; isInline: boolean }

/** `base`: the offset of the text in its file. */
export function parseCss(
  text: string,
  { base, isInline }: { base: number; isInline: boolean },
  report: Report,
): Sheet {
  const declarations: Declaration[] = []
  const rules: Rule[] = []
  const open: Rule[] = []
  let start = 0
  let brackets = 0
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === "/" && text[i + 1] === "*") i = endOf(text, "*/", i + 2)
    else if (character === '"' || character === "'") i = endOfString(text, i)
    else if (character === "\\") i++
    else if (character === "(" || character === "[") brackets++
    else if (character === ")" || character === "]") brackets = Math.max(0, brackets - 1)
    else if (character === "{") {
      const rule = { selector: plain(text.slice(start, i)).trim(), at: base + firstOf(text, start, i) }
      rules.push(rule)
      open.push(rule)
      next(i)
    } else if (character === "}") {
      declare(i)
      open.pop()
      next(i)
    } else if (character === ";" && brackets === 0) {
      declare(i)
      next(i)
    }
  }
  declare(text.length)
  const last = open.at(-1)
  if (last) report("css/unclosed", last.at, `The block of ${last.selector || "a rule"} is not closed.`)
  return { declarations, rules, isInline }

  function next(i: number): void {
    start = i + 1
    brackets = 0
  }

  function declare(end: number): void {
    const [, property, value] = /^\s*(-{0,2}[\w-]+)\s*:(.*)$/s.exec(plain(text.slice(start, end))) ?? []
    if (!property || value === undefined) return
    const at = firstOf(text, start, end)
    const valueAt = firstOf(text, text.indexOf(":", at) + 1, end)
    const selector = open.at(-1)?.selector ?? ""
    declarations.push({ property, value: value.trim(), at: base + at, valueAt: base + valueAt, selector })
  }
}

/** Comments become spaces. */
function plain(text: string): string {
  return text.includes("/*")
    ? text.replaceAll(/\/\*.*?(?:\*\/|$)/gs, (comment) => " ".repeat(comment.length))
    : text
}

function firstOf(text: string, from: number, to: number): number {
  for (let i = from; i < to; i++)
    if (text.startsWith("/*", i)) i = endOf(text, "*/", i + 2)
    else if (!/\s/.test(text[i]!)) return i
  return from
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found < 0 ? text.length : found + mark.length - 1
}

/** A string ends at its quote, or at the end of the line. */
function endOfString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === "\\") i++
    else if (text[i] === text[from] || text[i] === "\n") return i
  }
  return text.length
}
