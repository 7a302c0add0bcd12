// Matches a clause with forms of elements. A form covers the whole clause, so that a change needs a rule for every word.
//   word|other   one of these words (`instead_of` is two)     $name  a list of words from below
//   element?     may be missing                               element*  any number of times
//   <name:Q|F>   one token, kept under its name               <name>    one or more tokens, as few as fit
import { type Clause, slice } from "./clause.ts"
import { namedFile, splitLines } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export type Match = {
  /** The value of an element: the inside of quotes, the path of a file, otherwise the text as it was written. */
  get(name: string): string | undefined
  /** The tokens from here to the end of the clause, as they were written. */
  rest(name: string): string
}

const lists: Record<string, string> = {
  a: "the|a|an|my|our|this|that|these|those|your|its",
  file: "F|Q",
  in: "in|inside|within|of|on|from",
  to: "with|by|to|into|as|->|=>|→|for",
  all: "all|every|each|any|both|everywhere|the|text|word|words|string|strings|occurrence|occurrences|instance|instances|of|phrase|line|literal|name|function|variable|class|method|constant|value|spelling|typo|from",
  each: "all|every|each|both|occurrence|occurrences|instance|instances|of|the_word|the_text|the_string|the_name|the_function|the_variable|the_class|the_method|the_constant|word|text|string|function|variable|class|method|constant",
  new: "new|empty|blank|text|small|simple|another|the|a|an|me|us|file|called|named",
  holds:
    "with|containing|contains|that_contains|which_contains|saying|that_says|which_says|holding|having|including|and_put|and_write",
  content:
    "the|a|this|these|following|content|contents|text|body|line|lines|word|words|string|message|just|only|of|as|:",
  end: "everywhere|too|instead|now|throughout|please|globally",
}
const compiled = new Map<string, RegExp>()

export function match(clause: Clause, ...forms: string[]): Match | undefined {
  const shape = `${clause.shape} `
  if (shape.length > 4_000) return undefined
  for (const form of forms) {
    const found = pattern(form).exec(shape)
    if (found) return reading(clause, shape, found.indices!.groups ?? {})
  }
  return undefined
}

function reading(clause: Clause, shape: string, groups: Record<string, [number, number]>): Match {
  /** The index of the token at a position of the shape. */
  const tokenAt = (place: number) => shape.slice(0, place).split(" ").length - 1
  return {
    get(name) {
      const place = groups[name]
      if (!place) return undefined
      const [from, to] = [tokenAt(place[0]), tokenAt(place[1])]
      const token = clause.tokens[from]!
      if (to - from > 1) return slice(clause, from, to)
      if (token.kind === "quote") return token.sign === '"' ? withBreaks(token.text) : token.text
      return shape[place[0]] === "F" ? pathOf(token) : token.text
    },
    rest(name) {
      const at = clause.tokens[tokenAt(groups[name]![0])]!
      const { end } = clause.tokens.at(-1)!
      const marks = /^[.!?)\]}]+/.exec(clause.source.slice(end, end + 10))?.[0] ?? ""
      return clause.source.slice(at.start, end + marks.length).trim()
    },
  }
}

export function pathOf(token: Token): string {
  return splitLines(namedFile(token) ?? token.text).path
}

/** In double quotes people write `\n` for a new line. */
function withBreaks(text: string): string {
  return text.replaceAll("\\n", "\n").replaceAll("\\t", "\t")
}

function pattern(form: string): RegExp {
  const known = compiled.get(form)
  if (known) return known
  const made = new RegExp(`^${form.split(" ").map(element).join("")}$`, "d")
  compiled.set(form, made)
  return made
}

function element(text: string): string {
  const [, name, own] = /^<(\w+)(?::(.+))?>$/.exec(text) ?? []
  if (name) return own ? `(?<${name}>(?:${words(own)}) )` : `(?<${name}>(?:[^ ]+ )+?)`
  const times = /[?*]$/.exec(text)?.[0] ?? ""
  return `(?:(?:${words(times ? text.slice(0, -1) : text)}) )${times === "*" ? "{0,8}" : times}`
}

function words(text: string): string {
  return text
    .split("|")
    .map((word) => (word.startsWith("$") ? words(lists[word.slice(1)]!) : escaped(word)))
    .join("|")
}

/** `\w` stays what it is: any one word. */
function escaped(word: string): string {
  return word === "\\w" ? "[^ QFDGU:,]+" : word.replaceAll(/[.+?^$()[\]{}]/g, "\\$&").replaceAll("_", " ")
}
