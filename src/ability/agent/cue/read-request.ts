// Reads a request for its cues: words as stems in clauses, with addresses, files, code and quotes as tokens of their own, so
// that the words inside them are not taken for what the person wants. Marks what the person rules out.
import { stem } from "./words.ts"

/** `head`: the first word of its clause after words such as "please". `isExcluded`: the person does not want it. `isTopic`: it
 * follows "how" or "about", so it need not be done. */
export type Token = {
  stem: string
  word: string
  clause: number
  head: boolean
  isExcluded: boolean
  isTopic: boolean
}

/** The start and the end of a long request say what it is about. */
const [maxStart, maxEnd] = [2_000, 500]

const shapes: [string, RegExp][] = [
  ["URL", /^(?:https?:\/\/|www\.)\S+|^localhost\b\S*/i],
  [
    "URL",
    /^(?:[\w-]+\.)+(?:com|org|net|dev|io|app|ai|edu|gov|info|eu|uk|de|ch|fr|it|es|nl|no|se|at|be|pl|jp|cn|in|us|co|me)\b(?:[/:]\S*)?/i,
  ],
  [
    "FILE",
    /^(?:~|\.{0,2})\/[\w.@~/*-]+|^[\w.@-]+\/(?:[\w.@*-]+\/?)*|^[\w*-]*\.[a-z][a-z0-9]{0,4}\b(?:\.gz)?|^(?:readme|changelog|dockerfile|makefile|license)\b/i,
  ],
  ["CODE", /^[\w.]+\(\)|^--?[a-z][\w-]*|^[a-z]+(?:[A-Z][a-z0-9]*)+\b|^(?:[A-Z][a-z0-9]+){2,}\b|^\w+_\w+/],
]
const quotes =
  /"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|`[^`\n]{1,300}`|(?<=^|[\s(])'[^'\n]{2,300}'(?=$|[\s.,;:!?)])/g
const word = /^[\p{L}\p{N}\p{M}]+(?:['’][\p{L}]+)?/u
/** Most words are plain. They need no check for the shape of a path or an address. */
const usual = /^(?!readme|changelog|dockerfile|makefile|license|localhost)[a-z]+[,;:.!?)]*(?:\s|$)/
/** Words of politeness at the start of a request, which say nothing about it. */
const polite = new Set(
  "please pls plz kindly hey hi hello ok okay so now then and also just simply only quickly can could would will you u i we want need like to have that lets let us go ahead help me should must dear vitamin sir"
    .split(" ")
    .map(stem),
)
const excluding = new Set("dont not never without needn neednt avoid nobody nothing".split(" "))
const including = new Set("just only simply but instead rather merely".split(" "))
const topics = new Set(["how", "about"])
const contractions = new Map([
  ["s", "is"],
  ["m", "am"],
  ["re", "are"],
  ["ve", "have"],
  ["d", "would"],
  ["ll", "will"],
])

export function readRequest(input: string): Token[] {
  const tokens: Token[] = []
  let [clause, hasHead, isExcluded, isTopic] = [0, false, false, false]
  const add = (raw: string, form: string) => {
    if (including.has(form)) isExcluded = false
    const isNegation = excluding.has(form) || (form === "no" && isExcluding(tokens, clause))
    const isPolite = !hasHead && polite.has(form)
    const head = !hasHead && !isPolite && !isExcluded && !isNegation
    tokens.push({ stem: form, word: raw, clause, head, isExcluded, isTopic })
    hasHead ||= head
    isTopic ||= !head && topics.has(form)
    isExcluded ||= isNegation
  }
  for (const { raw, form } of split(shorten(input))) {
    if (form === "") {
      clause++
      hasHead = false
      isExcluded = false
      isTopic = false
    } else add(raw, form)
  }
  return tokens
}

/** "no" rules something out at the start of a clause only: "has no label" describes. */
function isExcluding(tokens: readonly Token[], clause: number): boolean {
  return tokens.at(-1)?.clause !== clause
}

/** Tokens in order; an empty form ends a clause. */
function* split(input: string): Generator<{ raw: string; form: string }> {
  const kept: string[] = []
  const quoted = input.replaceAll("\u0001", " ").replace(quotes, (text) => {
    if (text.length > 0.7 * input.length) return text
    kept.push(text)
    return " \u0001 "
  })
  for (let rest = quoted.trimStart(); rest; rest = rest.trimStart()) {
    const shape = usual.test(rest) ? undefined : shapeOf(rest)
    const plain = word.exec(rest)?.[0]
    const found = shape?.[1]?.replace(/[.,;:!?)]+$/, "")
    if (found && found.length > (shape![0] === "CODE" ? 0 : 1)) {
      yield { raw: found, form: shape![0] }
      rest = rest.slice(found.length)
    } else if (plain) {
      yield* contracted(plain)
      rest = rest.slice(plain.length)
    } else {
      const [mark] = rest
      if (mark === "\u0001") yield { raw: kept.shift()!, form: "QUOTE" }
      else if (/[.,;:!?\n–—]/.test(mark!) || rest.startsWith("- ")) yield { raw: mark!, form: "" }
      rest = rest.slice(mark!.length)
    }
  }
}

function shapeOf(text: string): readonly [string, string] | undefined {
  for (const [form, pattern] of shapes) {
    const found = pattern.exec(text)?.[0]
    if (found) return [form, found]
  }
}

/** "don't" is "dont", "what's" is "what is". */
function* contracted(text: string): Generator<{ raw: string; form: string }> {
  const [start, end = ""] = text.toLowerCase().split(/['’]/) as [string, string?]
  if (end === "t") return yield { raw: text, form: `${start}t` }
  yield { raw: start, form: stem(start) }
  const verb = contractions.get(end)
  if (verb !== undefined) yield { raw: verb, form: verb }
}

function shorten(input: string): string {
  const text = input.normalize("NFKC")
  return text.length > maxStart + maxEnd ? `${text.slice(0, maxStart)}\n${text.slice(-maxEnd)}` : text
}
