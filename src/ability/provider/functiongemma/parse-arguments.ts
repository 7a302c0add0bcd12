// Parses the arguments of a call: an object of strings between <escape>, numbers, true, false, null, lists and objects.
import { restore, tokens } from "./control-tokens.ts"

type Fault = { position: number; reason: string }
/** Thrown within this file only. */
class Stop {
  readonly fault: Fault
  constructor(fault: Fault) {
    this.fault = fault
  }
}

const maxDepth = 64
const space = /\s*/y
const bareKey = /[^\s:{}[\],<>"']+/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /(true|false|null)(?![\w.-])/y
const words: Record<string, unknown> = { true: true, false: false, null: null }

/** Parses the object at `from`. Returns it with its end, or the reason why it is malformed. */
export function parseArguments(
  output: string,
  from: number,
): { args: Record<string, unknown>; end: number } | Fault {
  let at = from
  try {
    const args = readObject(0)
    return { args, end: at }
  } catch (error) {
    if (error instanceof Stop) return error.fault
    throw error
  }

  function readValue(depth: number): unknown {
    if (depth > maxDepth) fail(`more than ${maxDepth} levels`)
    if (output.startsWith(tokens.escape, at)) return readString()
    if (output[at] === "{") return readObject(depth)
    if (output[at] === "[") return readList(depth)
    const found = match(word)
    if (found !== undefined) return words[found]
    return readNumber()
  }

  function readObject(depth: number): Record<string, unknown> {
    expect("{")
    const entries = new Map<string, unknown>()
    skipSpace()
    if (!takes("}"))
      do {
        skipSpace()
        const keyAt = at
        const key = output.startsWith(tokens.escape, at)
          ? readString()
          : (match(bareKey) ?? fail("expected a key"))
        if (entries.has(key)) fail(`${JSON.stringify(key)} stands there twice`, keyAt)
        skipSpace()
        expect(":")
        skipSpace()
        entries.set(key, readValue(depth + 1))
        skipSpace()
      } while (takes(",") || !expectEnd("}"))
    return Object.fromEntries(entries)
  }

  function readList(depth: number): unknown[] {
    expect("[")
    const items: unknown[] = []
    skipSpace()
    if (!takes("]"))
      do {
        skipSpace()
        items.push(readValue(depth + 1))
        skipSpace()
      } while (takes(",") || !expectEnd("]"))
    return items
  }

  function readString(): string {
    const begin = at + tokens.escape.length
    const end = output.indexOf(tokens.escape, begin)
    if (end < 0) fail(`the text that begins here has no ${tokens.escape} at its end`)
    at = end + tokens.escape.length
    return restore(output.slice(begin, end))
  }

  function readNumber(): number {
    const begin = at
    const found = match(number) ?? fail(`expected a value, found ${here()}`)
    if (/[\w.-]/.test(output.charAt(at))) fail(`expected a value, found ${here(begin)}`, begin)
    const value = Number(found)
    if (!Number.isFinite(value)) fail(`${found.slice(0, 20)} is too large`, begin)
    return value
  }

  function match(form: RegExp): string | undefined {
    form.lastIndex = at
    const found = form.exec(output)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  function skipSpace(): void {
    match(space)
  }

  function takes(letter: string): boolean {
    if (output[at] !== letter) return false
    at++
    return true
  }

  function expect(letter: string): void {
    if (!takes(letter)) fail(`expected "${letter}", found ${here()}`)
  }

  function expectEnd(letter: string): true {
    if (!takes(letter)) fail(`expected "," or "${letter}", found ${here()}`)
    return true
  }

  function here(position = at): string {
    return position < output.length ? JSON.stringify(output.slice(position, position + 20)) : "the end"
  }

  function fail(reason: string, position = at): never {
    throw new Stop({ position, reason })
  }
}
