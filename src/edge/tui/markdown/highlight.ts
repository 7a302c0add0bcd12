// Highlights code line by line; the state goes from one line to the next, so the cost is linear while code streams.
import { type StreamParser, StringStream } from "@codemirror/streamparser"
import type { Role } from "#edge/tui/screen/line.ts"

export type Highlighter = Readonly<{
  /** The next line, in pieces. */
  take(line: string): { text: string; role?: Role }[]
  /** Takes further lines without changing this one. */
  copy(): Highlighter
}>

/** Longer lines are data. */
const maxLine = 2_000
const indent = 2
/** By the start of the name that a parser gives to a token. */
const roles: [RegExp, Role][] = [
  [/comment/, "comment"],
  [/^(string|regexp|character|attributeValue|url)/, "string"],
  [/^(number|integer|float|unit|color)/, "number"],
  [/^(keyword|atom|bool|null|tag|tagName|heading)/, "keyword"],
  [/^(type|typeName|className|namespace|attribute|meta|annotation|qualifier)/, "type"],
  [/(builtin|standard|function|definition|^def|^macroName)/, "function"],
]

export function createHighlighter(parser: StreamParser<unknown>): Highlighter {
  return highlight({ parser, known: new Map() }, parser.startState?.(indent) ?? {})
}

/** `known` has the roles of the names that were seen. */
type Language = { parser: StreamParser<unknown>; known: Map<string | null, Role | undefined> }

function highlight(language: Language, state: unknown): Highlighter {
  const { parser, known } = language

  function take(line: string) {
    if (line === "") parser.blankLine?.(state, indent)
    if (line.length > maxLine || line === "") return [{ text: line }]
    const stream = new StringStream(line, 4, indent)
    const pieces: { text: string; role?: Role }[] = []
    while (!stream.eol()) {
      const name = nextToken(stream)
      if (!known.has(name)) known.set(name, roleOf(name))
      const role = known.get(name)
      const text = stream.current()
      const last = pieces.at(-1)
      if (last && last.role === role) last.text += text
      else pieces.push({ text, ...(role ? { role } : {}) })
    }
    return pieces
  }

  /** A parser may change its state without reading; one that never reads is a fault of it. */
  function nextToken(stream: StringStream): string | null {
    stream.start = stream.pos
    for (let tries = 0; tries < 10; tries++) {
      const name = parser.token(stream, state)
      if (stream.pos > stream.start) return name
    }
    stream.next()
    return null
  }

  const copy = () => highlight(language, parser.copyState?.(state) ?? copyOf(state))
  return Object.freeze({ take, copy })
}

function copyOf(state: unknown): unknown {
  if (typeof state !== "object" || state === null) return state
  const entries = Object.entries(state).map(([name, value]) => [
    name,
    Array.isArray(value) ? [...value] : value,
  ])
  return Object.fromEntries(entries)
}

function roleOf(name: string | null): Role | undefined {
  if (!name) return undefined
  if (name === "deleted") return "removed"
  if (name === "inserted") return "added"
  return roles.find(([start]) => start.test(name))?.[1]
}
