// Which lines of a file are meant.
import type { Token } from "./tokens.ts"

export type Lines = { from?: number; to?: number; last?: number }

const numbers: Record<string, number> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  "twenty-five": 25,
  thirty: 30,
  forty: 40,
  fifty: 50,
  hundred: 100,
  dozen: 12,
  couple: 2,
}

const ordinals: Record<string, number> = { second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, tenth: 10 }

/** "first 10 lines", "lines 5 to 9", "line 3", "from line 7", "last 20 lines", "up to line 5". */
export function linesIn(tokens: Token[], words: string[]): Lines {
  const lines: Lines = {}
  const number = (i: number): number | undefined => {
    const text = (words[i] ?? "").replace(/^l(?=\d)/, "")
    if (/^\d{1,7}(?:st|nd|rd|th)?$/.test(text)) return Number.parseInt(text, 10)
    return Object.hasOwn(numbers, text) ? numbers[text] : undefined
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    const range = /^l?(\d{1,7})(?:-|–|\.\.|:)l?(\d{1,7})$/.exec(word)
    if (/^(?:lines?|rows?|ln)$/.test(word)) {
      const next = /^(?:numbers?|no\.?|#)$/.test(words[i + 1] ?? "") ? i + 2 : i + 1
      const after = /^l?(\d{1,7})(?:-|–|\.\.|:)l?(\d{1,7})$/.exec(words[next] ?? "")
      const first = number(next)
      if (after) Object.assign(lines, { from: Number(after[1]), to: Number(after[2]) })
      else if (first !== undefined && /^\d|^l\d/.test(words[next]!)) {
        const joined = /^(?:to|-|–|through|thru|until|till|and|up)$/.test(words[next + 1] ?? "")
        const second = joined ? (number(next + 2) ?? number(next + 3)) : undefined
        const open =
          /^(?:on|onwards?|onward|forward|down)$/.test(words[next + 1] ?? "") ||
          /^(?:from|after|starting)$/.test(words[i - 1] ?? "") ||
          /^(?:starting|beginning)$/.test(words[i - 2] ?? "")
        const upTo = /^(?:until|till|to|through)$/.test(words[i - 1] ?? "") && lines.from === undefined
        const more = listed(words, next)
        if (more > first && !(second !== undefined && second > more))
          Object.assign(lines, { from: first, to: more })
        else if (second !== undefined) Object.assign(lines, { from: first, to: second })
        else if (upTo) Object.assign(lines, { from: 1, to: first })
        else if (/^(?:to|through|until|till)$/.test(words[i - 1] ?? "")) lines.to = first
        else if (joined && /^(?:the|end|eof)$/.test(words[next + 2] ?? "")) lines.from = first
        else if (open) lines.from = first
        else Object.assign(lines, { from: first, to: first })
      } else {
        const count = number(i - 1)
        const side =
          count === undefined
            ? words[i - 1]
            : /^(?:a|few|of)$/.test(words[i - 2] ?? "")
              ? words[i - 3]
              : words[i - 2]
        if (count !== undefined && /^(?:first|top|initial|opening)$/.test(side ?? ""))
          Object.assign(lines, { from: 1, to: count })
        else if (count !== undefined && /^(?:last|bottom|final)$/.test(side ?? "")) lines.last = count
        else if (count !== undefined && /\d(?:st|nd|rd|th)$/.test(words[i - 1]!))
          Object.assign(lines, { from: count, to: count })
        else if (word === "line" && Object.hasOwn(ordinals, words[i - 1] ?? ""))
          Object.assign(lines, { from: ordinals[words[i - 1]!], to: ordinals[words[i - 1]!] })
        else if (/^first$/.test(words[i - 1] ?? "") && word === "line")
          Object.assign(lines, { from: 1, to: 1 })
        else if (/^last$/.test(words[i - 1] ?? "") && word === "line") lines.last = 1
      }
    } else if (
      range &&
      (word.startsWith("l") || tokens.some(({ lower }) => /^lines?$/.test(lower))) &&
      lines.from === undefined
    )
      Object.assign(lines, { from: Number(range[1]), to: Number(range[2]) })
  }
  if (lines.from === undefined && lines.last === undefined) shell(words, lines, number)
  if (lines.from !== undefined && lines.to !== undefined && lines.to < lines.from)
    [lines.from, lines.to] = [lines.to, lines.from]
  if (lines.from === 0) lines.from = 1
  return lines
}

/** The last of "3, 4 and 5". */
function listed(words: string[], from: number): number {
  let last = 0
  for (let i = from + 1; i < words.length; i++) {
    if (words[i] === "" || words[i] === "and" || words[i] === "&") continue
    if (!/^\d{1,7}$/.test(words[i]!)) break
    last = Number(words[i])
  }
  return last
}

/** `head -n 20 file`, `tail -5 file`, `head -20`. */
function shell(words: string[], lines: Lines, number: (i: number) => number | undefined) {
  if (words[0] !== "head" && words[0] !== "tail") return
  const at = words.findIndex((word) => /^-(?:n|c)?\d*$/.test(word))
  const count = at < 0 ? number(1) : Number(/\d+$/.exec(words[at]!)?.[0] ?? number(at + 1))
  const size = Number.isInteger(count) && count! > 0 ? count! : 10
  if (words[0] === "head") Object.assign(lines, { from: 1, to: size })
  else lines.last = size
}
