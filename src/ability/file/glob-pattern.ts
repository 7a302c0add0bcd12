// Glob patterns over paths. ripgrep's own `--glob` would include ignored files again, so ripgrep only gets a coarse
// filter by name, and the pattern is matched here, without backtracking.
import { NamedError } from "#util/error.ts"
import { fitsAll } from "#util/wildcard.ts"

/** A character, `?` or `*`, or the test of a `[class]`. */
type Token = string | ((char: string) => boolean)
/** `ending`: what follows the star, if the segment is a star and plain text, such as `*.ts`. */
type Segment = "**" | { text: string; tokens: Token[]; plain: boolean; ending?: string | undefined }

export type GlobPattern = {
  /** For a path that passed `filter`. */
  matches(path: string): boolean
  /** Arguments that make ripgrep skip files whose name cannot match. */
  filter: string[]
  /** Whether the pattern names something that starts with a dot. */
  hidden: boolean
}

const maxAlternatives = 200
const maxLength = 1_000
const any = "*"
const one = "?"

class InvalidPattern extends NamedError {
  constructor(pattern: string, reason: string) {
    super(
      "InvalidPattern",
      `Glob pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be used: ${reason}`,
      { pattern },
    )
  }
}

/** `*` within a segment, `**` across, `?`, `[a-z]`, `{a,b}`. Without a slash it matches names in every folder. */
export function compileGlob(pattern: string): GlobPattern {
  if (pattern.length > maxLength)
    throw new InvalidPattern(pattern, `it has more than ${maxLength} characters`)
  const alternatives = expand(pattern, pattern).map((text) => toSegments(text, pattern))
  const named = alternatives.flatMap((segments) => segments.filter((segment) => segment !== "**"))
  const names = alternatives.flatMap((segments) => nameFilter(segments.at(-1)!))
  const filtered = names.length === alternatives.length
  const anyFolder = alternatives.every((segments) => segments.length === 2 && segments[0] === "**")
  const matches = (path: string) => {
    let parts: string[] | undefined
    return alternatives.some((segments) => {
      if (!beginsWith(segments, path)) return false
      parts ??= path.split("/")
      return fitsAll(segments, parts, (segment) => segment === "**", segmentFits)
    })
  }
  return {
    // Only the name counts, and ripgrep has checked it.
    matches: filtered && anyFolder ? () => true : matches,
    filter:
      filtered && !names.includes(any)
        ? [...names.map((name) => `--type-add=vitamin:${name}`), "--type=vitamin"]
        : [],
    hidden: named.some((segment) => segment.text.startsWith(".")),
  }
}

/** A fast check first: a tree has many files, and most are in other folders. */
function beginsWith([first]: Segment[], path: string): boolean {
  return first === "**" || !first!.plain || path.startsWith(first!.text)
}

/** The name as a ripgrep file type, if it is simple enough to mean the same to both. */
function nameFilter(segment: Segment): string[] {
  return segment !== "**" && /^[\w.*?+@ -]+$/.test(segment.text) ? [segment.text] : []
}

/** Every expansion of the braces. */
function expand(text: string, pattern: string): string[] {
  const open = text.search(/(?<!\\)\{/)
  if (open < 0) return [text]
  let depth = 0
  let start = open + 1
  const choices: string[] = []
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++
    else if (text[i] === "{") depth++
    else if (text[i] === "," && depth === 1) {
      choices.push(text.slice(start, i))
      start = i + 1
    } else if (text[i] === "}" && --depth === 0) {
      choices.push(text.slice(start, i))
      const [before, after] = [text.slice(0, open), text.slice(i + 1)]
      const all = choices.flatMap((choice) => expand(before + choice + after, pattern))
      if (all.length > maxAlternatives) throw new InvalidPattern(pattern, "it has too many alternatives")
      return all
    }
  }
  throw new InvalidPattern(pattern, 'a "{" is not closed')
}

function toSegments(text: string, pattern: string): Segment[] {
  const parts = text.split("/").filter((part, i) => part !== "." && (part !== "" || i === 0))
  if (parts.includes(".."))
    throw new InvalidPattern(pattern, 'it has a ".." segment; use path for the folder')
  if (parts.every((part) => part === "")) throw new InvalidPattern(pattern, "it is empty")
  const anywhere = !text.includes("/")
  const segments = parts.filter((part) => part !== "").map((part) => toSegment(part, pattern))
  return anywhere && segments[0] !== "**" ? ["**", ...segments] : segments
}

function toSegment(text: string, pattern: string): Segment {
  if (text === "**") return "**"
  const tokens: Token[] = []
  let plain = true
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (char === any || char === one) {
      plain = false
      if (char === one || tokens.at(-1) !== any) tokens.push(char)
    } else if (char === "[") {
      plain = false
      const end = text.indexOf("]", i + (/^\[[!^]/.test(text.slice(i)) ? 3 : 2))
      if (end < 0) throw new InvalidPattern(pattern, 'a "[" is not closed')
      tokens.push(toClass(text.slice(i + 1, end)))
      i = end
    } else {
      const literal = char === "\\" ? (text[++i] ?? "\\") : char
      tokens.push(literal === any || literal === one ? (other) => other === literal : literal)
    }
  }
  const ending = /^\*+([^*?[\\]*)$/.exec(text)?.[1]
  return { text, tokens, plain: plain && !text.includes("\\"), ending }
}

function toClass(text: string): (char: string) => boolean {
  const negated = /^[!^]/.test(text)
  const ranges = [...text.slice(negated ? 1 : 0).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, from, to, single]) => [from ?? single!, to ?? single!] as const,
  )
  return (char) => ranges.some(([from, to]) => char >= from && char <= to) !== negated
}

function segmentFits(segment: Segment, name: string): boolean {
  if (segment === "**") return true
  if (segment.plain) return segment.text === name
  if (segment.ending !== undefined) return name.endsWith(segment.ending)
  return fitsAll(segment.tokens, name, (token) => token === any, tokenFits)
}

function tokenFits(token: Token, char: string): boolean {
  return typeof token === "string" ? token === one || token === char : token(char)
}
