// Patterns of events: `edit`, `edit:src/**`, `file.*:src/**`, `bash.done:npm test*`. A pattern without `.done` or `.failed`
// matches actions, never results.
import type { Event } from "#kernel/behavioral/behavioral.ts"
import { fitsPath, fitsText, hasWildcard } from "#util/wildcard.ts"
import type { Detail, Key } from "./guard-event.ts"

export type Patterns = string | readonly string[]

/** Whether an event fits one of the patterns. */
export function matches(patterns: Patterns): (event: Event) => boolean {
  const tests = listOf(patterns).map(compile)
  const [only] = tests
  const fits = tests.length === 1 ? only! : (key: Key) => tests.some((test) => test(key))
  return ({ type, detail }) => {
    const keys = (detail as Detail | undefined)?.keys
    // Events of other programs, such as those that a thread requests, have only a type.
    if (!keys) return fits({ name: type })
    for (const key of keys) if (fits(key)) return true
    return false
  }
}

export function listOf(patterns: Patterns): readonly string[] {
  return typeof patterns === "string" ? [patterns] : patterns
}

/** What a person or a model does to make one of the events happen. Targets of the same event are listed together. */
export function sayPatterns(patterns: readonly string[]): string {
  const groups = Map.groupBy(patterns.map(parsePattern), ({ name, ending }) => name + ending)
  return Array.from(groups, ([head, group]) => {
    const targets = group.map(({ target }) => target)
    return sayEvent(
      head,
      targets.includes(undefined) ? "" : listed(targets.map((one) => JSON.stringify(one))),
    )
  }).join(", or ")
}

function sayEvent(head: string, targets: string): string {
  const { name: full, ending } = parsePattern(head)
  const name = full === "bash.execute" ? "bash" : full
  if (Object.hasOwn(plainWords, name) && !ending) return plainWords[name] + (targets && ` for ${targets}`)
  const about = targets && ` of ${targets}`
  if (ending === ".done") return `a successful ${name}${about}`
  return ending === ".failed" ? `a failed ${name}${about}` : `${name}${about}`
}

function listed(words: readonly string[]): string {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : (words[0] ?? "")
}

export function parsePattern(pattern: string): { name: string; target?: string; ending: string } {
  const colon = pattern.indexOf(":")
  const head = colon < 0 ? pattern : pattern.slice(0, colon)
  const ending = /\.(done|failed)$/.exec(head)?.[0] ?? ""
  const name = ending ? head.slice(0, -ending.length) : head
  return { name, ending, ...(colon < 0 ? {} : { target: pattern.slice(colon + 1) }) }
}

const plainWords: Record<string, string> = {
  approve: "the approval of a person",
  prompt: "the next prompt of a person",
  answer: "the final answer",
  mode: "a change of the mode",
}

function compile(pattern: string): (key: Key) => boolean {
  const { name, target, ending } = parsePattern(pattern)
  const whole = name + ending
  const isNamed = hasWildcard(name)
    ? (key: Key) => endingOf(key.name) === ending && fitsText(whole, key.name)
    : (key: Key) => key.name === whole
  if (target === undefined) return isNamed
  return (key) => {
    if (key.target === undefined || !isNamed(key)) return false
    return key.path ? fitsPath(target, key.path) : fitsText(target, key.target)
  }
}

function endingOf(name: string): string {
  return name.endsWith(".done") ? ".done" : name.endsWith(".failed") ? ".failed" : ""
}
