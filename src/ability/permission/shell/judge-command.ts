// Judges a command line by the rules: every simple command in it is judged, and the strictest result counts. An unclear
// line needs a question. Denied commands are also found inside other commands.
import type { Rule } from "#kernel/schema/schema.ts"
import { fitsText, hasWildcard } from "#util/wildcard.ts"
import { createNestedCommands, pieces } from "./nested-commands.ts"
import { namesTargets, outsideTargets, type Place, withMoves } from "./outside-targets.ts"
import { readsGit } from "./reading-git.ts"
import { isRisky } from "./risky-command.ts"
import { type SimpleCommand, type Span, splitCommand } from "./split-command.ts"
import { unwrap } from "./unwrap.ts"

const maxTarget = 100

/** The last matching rule, by layers. */
export type Decide<D> = (fits: (rule: Rule, source: string) => boolean) => D
/** A part of a line that no rule allows, and its risk. */
export type AskedPart = Span & { why?: string }
type Decision = { action: Rule["action"]; parts?: AskedPart[] }
type Ask = { action: "ask"; parts?: AskedPart[] }
type Judging<D> = {
  decide: Decide<D>
  nested: ReturnType<typeof createNestedCommands>
  place: Place
  depth: number
}

/** The source of rules that hold only inside a sandbox. */
const preset = "preset"
const maxInside = 8
const strictness = { allow: 0, ask: 1, deny: 2 }

/** The text of each command of a line, as a rule would name it; "" for a command that no rule can allow. */
export function exactCommands(command: string): string[] {
  const { commands, unclear } = splitCommand(command)
  const running = commands.filter(isRunning)
  if (unclear !== undefined || running.length === 0) return [""]
  return [...new Set(running.map((simple) => (isNamed(simple) && isKnown(simple) ? simple.text : "")))]
}

export function judgeCommand<D extends Decision>(command: string, place: Place, decide: Decide<D>): D | Ask {
  const { commands, unclear } = splitCommand(command)
  const judging = { decide, nested: createNestedCommands(), place: withMoves(commands, place), depth: 0 }
  const running = commands.filter(isRunning)
  const judged: (D | Ask)[] = running.map((simple) => judge(simple, judging))
  const asking = running.filter((_, i) => judged[i]!.action === "ask")
  if (unclear !== undefined) judged.push(...denials(command, judging))
  if (unclear !== undefined || judged.length === 0) judged.push(unclearBy(decide))
  const least = judged.reduce((least, next) =>
    strictness[next.action] > strictness[least.action] ? next : least,
  )
  if (least.action !== "ask") return least
  const all = asking.flatMap((simple) => partOf(simple, judging.place))
  // If nothing is allowed, only the risky parts add information.
  const parts = asking.length < running.length ? all : all.filter(({ why }) => why !== undefined)
  return parts.length ? { ...least, parts } : least
}

/** A sandbox bounds what a line can do, whatever it does. */
function unclearBy<D extends Decision>(decide: Decide<D>): D | Ask {
  const bounded = decide(({ action }, source) => action === "allow" && source === preset)
  return bounded.action === "allow" ? bounded : { action: "ask" }
}

function partOf(command: SimpleCommand, place: Place): AskedPart[] {
  const why = riskOf(command, place)
  return command.span ? [{ ...command.span, ...(why === undefined ? {} : { why }) }] : []
}

function judge<D extends Decision>(command: SimpleCommand, judging: Judging<D>): D | Ask {
  const { decide, nested, depth } = judging
  const names = once(() => [
    command.text,
    ...nested(command.words.map(({ text }) => text)).map((words) => words.join(" ")),
  ])
  const holes = once(() => (isKnown(command) ? [command.text] : certain(command)))
  const onlyReads = once(() => readsGit(command, judging.place))
  let mayBeDenied = false
  const decision = decide((rule, source) => {
    const { action, pattern } = rule
    // A grant does not apply to a command that another command runs.
    if (action === "allow" && source === "grant" && depth > 0) return false
    if (action === "allow" && source === preset) return true
    if (action === "allow") {
      const isMeant = fits(pattern, command) && covers(rule, command, judging)
      return isMeant && (source !== "default" || onlyReads())
    }
    // Plan mode does not deny git commands that only read. Rules of a person do.
    if (source === "mode" && onlyReads()) return false
    if (names().some((name) => fitsText(pattern, name))) return true
    if (action === "ask") return mightFit(pattern, holes())
    mayBeDenied ||= mightFit(pattern, holes())
    return false
  })
  return mayBeDenied && decision.action === "allow" ? { action: "ask" } : decision
}

/** Whether a pattern matches a command. The arguments that xargs appends count as an empty word. */
function fits(pattern: string, { text, words }: SimpleCommand): boolean {
  if (fitsText(pattern, text)) return true
  const last = words.at(-1)
  return last?.text === "" && !last.isLiteral && fitsText(pattern, `${text} `)
}

/** Whether an allow rule that matches the text also covers what the command would do. */
function covers<D extends Decision>({ pattern }: Rule, command: SimpleCommand, judging: Judging<D>): boolean {
  if (!isNamed(command)) return false
  if (!hasWildcard(pattern) && isKnown(command)) return true
  const inside = unwrap(command)
  if (inside === "unknown" || judging.depth > maxInside || isRisky(command)) return false
  if (!namesTargets(pattern, outsideTargets(command, judging.place))) return false
  if (!inside) return true
  const inner = { ...judging, place: withMoves(inside, judging.place), depth: judging.depth + 1 }
  return !inside.filter(isRunning).some((simple) => judge(simple, inner).action !== "allow")
}

/** False for an assignment of an ordinary variable, which runs nothing. */
function isRunning({ words, writes, sets }: SimpleCommand): boolean {
  return words.length > 0 || writes || sets
}

/** Whether the command only runs the program that it names. */
function isNamed({ words, writes, sets }: SimpleCommand): boolean {
  return !writes && !sets && words[0]?.isLiteral === true && words[0].text !== ""
}

function isKnown({ words }: SimpleCommand): boolean {
  return words.every(({ isLiteral }) => isLiteral)
}

/** Computes a value when it is first needed. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** For a line that cannot be parsed: anything that looks like a denied command. */
function denials<D extends Decision>(command: string, { decide, nested }: Judging<D>): D[] {
  const names = [
    command,
    ...pieces(command)
      .flatMap(nested)
      .map((words) => words.join(" ")),
  ]
  const decision = decide(
    ({ action, pattern }) => action === "deny" && names.some((name) => fitsText(pattern, name)),
  )
  return decision.action === "deny" ? [decision] : []
}

/** The certain pieces of the whole text. */
function certain({ words }: SimpleCommand): string[] {
  const found = [""]
  for (const [
    i,
    {
      pieces: [first = "", ...rest],
    },
  ] of words.entries()) {
    found[found.length - 1] += (i > 0 ? " " : "") + first
    found.push(...rest)
  }
  return found
}

/** Why a command does more than its name says, for the person who decides. */
function riskOf(command: SimpleCommand, place: Place): string | undefined {
  const { words, writes, sets } = command
  if (sets) return "sets a variable that decides what runs"
  if (writes) return "writes a file"
  if (words[0]?.isLiteral === false) return "which program it runs is not known"
  if (isRisky(command)) return "by its options or script it can run programs or write files"
  const [outside] = outsideTargets(command, place)
  if (outside !== undefined) return `reaches outside of the workspace: ${outside.slice(0, maxTarget)}`
  return unwrap(command) === "unknown" ? "runs a command that cannot be read" : undefined
}

/** Whether a text of which only these pieces are certain, with anything between them, could match a pattern with stars. */
function mightFit(pattern: string, pieces: string[]): boolean {
  if (pieces.length === 1 || !startsAlike(pattern, pieces[0]!)) return false
  const want = simplified(pattern)
  const have = simplified(pieces.map((piece) => piece.replaceAll("*", "\u0001")).join("*"))
  if (want.length * have.length > 4_000_000) return true
  return intersect(want.replaceAll("\u0001", "*"), have)
}

/** Fast path: most pairs differ before the first star or hole. */
function startsAlike(pattern: string, start: string): boolean {
  const star = pattern.indexOf("*")
  const length = Math.min(star < 0 ? pattern.length : star, start.length)
  return pattern.slice(0, length) === start.slice(0, length)
}

function simplified(text: string): string {
  return text.replace(/\*+/g, "*")
}

/** Whether some text matches both. Row by row over `have`: the positions in `want` that can be reached. */
function intersect(want: string, have: string): boolean {
  let row = reachByStars(want, new Uint8Array(want.length + 1).fill(1, 0, 1))
  for (const char of have) {
    const next = new Uint8Array(want.length + 1)
    if (char === "*") {
      const first = row.indexOf(1)
      if (first < 0) return false
      next.fill(1, first)
    } else
      for (let i = 0; i < want.length; i++)
        if (row[i] && want[i] === "*") next[i] = 1
        else if (row[i] && want[i] === (char === "\u0001" ? "*" : char)) next[i + 1] = 1
    row = reachByStars(want, next)
  }
  return row[want.length] === 1
}

/** A star may match nothing. */
function reachByStars(want: string, row: Uint8Array): Uint8Array {
  for (let i = 0; i < want.length; i++) if (row[i] && want[i] === "*") row[i + 1] = 1
  return row
}
