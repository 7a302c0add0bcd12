// Which lines of a file a request means. The words are normalised first ("L3-L9" and "3 – 9" become `3~9`, a file `F`), and the
// first form that fits decides.
import { isFile } from "./recognize.ts"
import type { Token } from "./tokens.ts"

export type Lines = { from?: number; to?: number; last?: number }

const units = "one two three four five six seven eight nine ten eleven twelve".split(" ")
const numbers = new Map([
  ...units.map((word, i): [string, number] => [word, i + 1]),
  ...Object.entries({ fifteen: 15, twenty: 20, "twenty-five": 25, thirty: 30, forty: 40, fifty: 50 }),
  ...Object.entries({ hundred: 100, dozen: 12, couple: 2, few: 10, several: 10, second: 2, third: 3 }),
  ...Object.entries({ fourth: 4, fifth: 5, sixth: 6, seventh: 7, eighth: 8, ninth: 9, tenth: 10 }),
])
const ordinal = /^(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)$/

/** Lines shown on both sides of a line, and lines shown if no number is given, as `head` does. */
const some = 10

type Form = [pattern: RegExp, lines: (one: number, two: number) => Lines]

const between = (one: number, two: number): Lines => ({ from: Math.min(one, two), to: Math.max(one, two) })
const line = "(?:lines?\\.?|rows?|ln\\.?|ll?\\.?)(?: (?:numbers?|no\\.?|#|from|between))?"
const to = "(?:(?:up )?to|-|–|—|through|thru|until|till|and|&|,)"
const form = (text: string, lines: Form[1]): Form => [
  new RegExp(
    `(?:^| )${text.replaceAll("LINE", line).replaceAll("TO", to).replaceAll("N", "(\\d{1,7})")}(?= |$)`,
  ),
  lines,
]
const forms: Form[] = [
  form("LINE N~N", between),
  form("LINE N(?: TO)+ LINE N", between),
  form("LINE N (?:and )?(?:on|onwards?|forward|down|up|beyond)", (from) => ({ from })),
  form("LINE N to (?:the )?(?:end|eof|bottom|last)", (from) => ({ from })),
  form("LINE N(?: , \\d+)*(?: TO)+ N", between),
  form("N lines .*(?:from|at|after|with) LINE N", (count, from) => ({ from, to: from + count - 1 })),
  form("(?:after|past|beyond) LINE N", (line) => ({ from: line + 1 })),
  form("(?:from|(?:start|begin|starting|beginning)(?: at| from| with| on)?|since) LINE N", (from) => ({
    from,
  })),
  form("(?:until|till|to|through|before) LINE N", (to) => ({ from: 1, to })),
  form("(?:around|near|about) LINE N", (at) => ({ from: Math.max(1, at - some), to: at + some })),
  form("(?:first|top|initial|opening) (?:a )?N (?:of )?(?:lines?|rows?)", (to) => ({ from: 1, to })),
  form("(?:last|bottom|final) (?:a )?N (?:of )?(?:lines?|rows?)", (last) => ({ last })),
  form("Nth (?:line|row)", (at) => between(at, at)),
  form("LINE N", (at) => between(at, at)),
  form("(?:first|top) (?:line|row)", () => between(1, 1)),
  form("(?:last|bottom|final) (?:line|row)", () => ({ last: 1 })),
  form("F (?:[,:(] )?N~N", between),
  form("(?:first|top) N (?:of|in|from) (?:the )?(?:file )?F", (to) => ({ from: 1, to })),
  form("(?:top|beginning|start|head) of (?:the )?(?:file )?F", () => ({ from: 1, to: some })),
  form("(?:bottom|tail|end) of (?:the )?(?:file )?F", () => ({ last: some })),
]
const maxLooked = 60

/** "first 10 lines", "lines 5 to 9", "line 3", "from line 7", "last 20 lines", "up to line 5". */
export function linesIn(tokens: Token[], words: string[]): Lines {
  const said = words
    .slice(0, maxLooked)
    .map((word, i) => spelled(tokens[i]!, word))
    .join(" ")
  for (const [pattern, lines] of forms) {
    const found = pattern.exec(said)
    if (!found) continue
    const [one, two] = found.slice(1).map((number) => Math.max(1, Number(number)))
    return lines(one!, two!)
  }
  return {}
}

function spelled({ kind, text }: Token, word: string): string {
  if (kind === "mark") return text
  if (kind === "quote") return isFile(text) ? "F" : "Q"
  if (word.length > 500) return "-"
  if (isFile(text.replace(/['’]s$/, ""))) return "F"
  const range = /^l?(\d{1,7})(?:-|–|—|\.\.\.?|:|,)l?(\d{1,7})$/.exec(word)
  if (range) return `${range[1]}~${range[2]}`
  if (/^l\d{1,7}$/.test(word)) return `l ${word.slice(1)}`
  if (/^\d{1,7}(?:st|nd|rd)$/.test(word)) return word.replace(/\D+$/, "th")
  const number = numbers.get(word)
  return number === undefined ? word : `${number}${ordinal.test(word) ? "th" : ""}`
}
