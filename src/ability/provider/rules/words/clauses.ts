// Splits a request into its parts: "list src and then read a.ts" are two.
import { isClearProgram, isStarter, opening, verbs } from "./lexicon.ts"
import { isCode, isFile, isGlob, isPath } from "./recognize.ts"
import type { Token } from "./tokens.ts"

const joints = new Set("and then afterwards next finally also plus after followed before & lastly".split(" "))
const fillers = new Set([...joints, ..."please now just that by this you to can could me - • * ,".split(" ")])
const ends = new Set([".", "!", "?", ";", "\n"])
/** After these verbs and a colon, everything to the end is their content. */
const takesTail = new Set([...verbs.write, "append", "add", "remind", "todo", "todos", "put"])
const maxClauses = 24

export function splitClauses(tokens: Token[]): Token[][] {
  const clauses: Token[][] = []
  let current: Token[] = []
  let tail = false
  const end = () => {
    const clause = trim(current)
    if (clause.length) clauses.push(clause)
    current = []
    tail = false
  }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (
      clauses.length < maxClauses &&
      current.length &&
      isBoundary({ tokens, at: i, tail, verb: current[0]!.lower })
    ) {
      end()
      // Words such as "and then" belong to neither part.
      if (token.kind === "mark" || joints.has(token.lower)) continue
    }
    if (token.text === ":" && takes(current)) {
      // Everything from the next line on is content, whatever it says.
      if (tokens[i + 1]?.text === "\n") {
        current = current.concat(tokens.slice(i))
        break
      }
      tail = true
    }
    current.push(token)
  }
  end()
  return clauses.filter(
    (clause, i) => clause.length > 1 || clause[0]!.kind !== "word" || !isBareVerb(clause, clauses[i + 1]),
  )
}

/** Whether another part of the request begins here. */
function isBoundary({
  tokens,
  at,
  tail,
  verb,
}: {
  tokens: Token[]
  at: number
  tail: boolean
  verb: string
}): boolean {
  const token = tokens[at]!
  if (tail) {
    const next = tokens[at + 1]
    const strong = token.lower === "then" || (token.lower === "and" && next?.lower === "then")
    return strong && startsClause(tokens, at + 1)
  }
  if (token.kind === "mark") {
    if (token.text === ":") return false
    if (token.text === ",")
      return (
        startsClause(tokens, at + 1, isClearProgram(verb) || isStarter(verb)) ||
        isElliptic(tokens, at + 1, verb)
      )
    const isBlank = at + 1 >= tokens.length || tokens[at + 1]!.text === "\n"
    return ends.has(token.text) && (token.text !== "\n" || isBlank || startsClause(tokens, at + 1))
  }
  if (token.kind !== "word") return false
  if (token.lower === "then") return at + 1 < tokens.length
  return joints.has(token.lower) && (startsClause(tokens, at + 1) || isElliptic(tokens, at + 1, verb))
}

/** Whether a clause without a verb begins here: "… and for 'x' in test", "…, then lines 3 to 5 of b". */
function isElliptic(tokens: Token[], from: number, verb: string): boolean {
  let at = from
  while (at < from + 4 && joints.has(tokens[at]?.lower ?? "")) at++
  const [first, second, third] = tokens
    .slice(at, at + 3)
    .map(({ kind, lower }) => (kind === "quote" ? "Q" : lower))
  if (first === "Q" && /^(?:write|save|put|search|grep|find|store)$/.test(verb))
    return /^(?:to|into|in|as)$/.test(second ?? "")
  if (first === "Q" && verbs.edit.has(verb) && isFile(tokens[from - 2]?.text ?? ""))
    return /^(?:with|by|to|into)$/.test(second ?? "")
  if (first === "for") return second === "Q" || isCode(tokens[at + 1]?.text ?? "")
  const isPlaced = tokens.slice(at, at + 8).some(({ lower }) => /^(?:of|in|from)$/.test(lower))
  // "between line 3 and line 6" are no two requests.
  const isRange = tokens
    .slice(Math.max(0, from - 5), from)
    .some(({ lower }) => /^(?:between|after)$/.test(lower))
  if (/^lines?$/.test(first ?? "")) return isPlaced && !isRange && /^\d/.test(second ?? "")
  if (/^\d+[-–]\d+$/.test(first ?? "")) return /^(?:of|in|from)$/.test(second ?? "") && isPath(third ?? "")
  return (
    /^(?:first|last)$/.test((first === "the" ? second : first) ?? "") &&
    /^\d/.test((first === "the" ? third : second) ?? "")
  )
}

/** Adds the verb of the clause before, if the clause has none and is in the same sentence. */
export function withVerb(source: string, tokens: Token[], before: Token[] | undefined): Token[] {
  const [first] = tokens
  if (!before || !first || /[.!?;\n]/.test(source.slice(before.at(-1)!.end, first.start))) return tokens
  const isBare =
    first.kind === "quote" ||
    isPath(first.text) ||
    isGlob(first.text) ||
    /^(?:for|lines?|the|first|last|from|\d+[-–]\d+)$/.test(first.lower)
  return isBare && first.kind !== "url" && before[0]!.kind === "word" ? [before[0]!, ...tokens] : tokens
}

function startsClause(tokens: Token[], from: number, isAsked = true): boolean {
  for (let i = from; i < tokens.length && i < from + 8; i++) {
    const { kind, lower } = tokens[i]!
    if (kind === "quote") return false
    if (kind === "word" && (isStarter(lower) || (isAsked && isClearProgram(lower))))
      return !isNounHere(tokens, i)
    if (kind === "mark" || /^\d+[.)]?$/.test(lower)) continue
    if (!fillers.has(lower)) return false
  }
  return false
}

/** In "search for read and write", the verbs are things to search for: no object follows them. "it says 'a', make it
 * 'b'" is one clause. */
function isNounHere(tokens: Token[], at: number): boolean {
  const next = tokens[at + 1]
  const isMend =
    /^(?:make|change|turn|fix|correct)$/.test(tokens[at]!.lower) && /^(?:it|that)$/.test(next?.lower ?? "")
  if (isMend && tokens.slice(at + 2, at + 4).some(({ kind }) => kind === "quote")) return true
  const isEnd = next === undefined || (next.kind === "mark" && next.text !== "," && next.text !== ":")
  if (isEnd) return !["ls", "commit", "push", "deploy", "test"].includes(tokens[at]!.lower)
  return (
    next.kind === "word" &&
    /^(?:in|under|from|within|inside|across)$/.test(next.lower) &&
    !/^(?:look|search|what|whats|what's|is|are|find|check|list|grep)$/.test(tokens[at]!.lower)
  )
}

/** "find" of "find and replace". */
function isBareVerb([token]: Token[], next: Token[] | undefined): boolean {
  return next !== undefined && isStarter(token!.lower) && token!.lower !== "ls"
}

export function takes(tokens: Token[]): boolean {
  return trim(tokens.slice(0, 12))
    .slice(0, 6)
    .some(({ kind, lower }) => kind === "word" && takesTail.has(lower))
}

/** Removes words such as "please" before and after the clause. */
function trim(tokens: Token[]): Token[] {
  let rest = tokens
  for (let times = 0; times < 20; times++) {
    const start = rest.findIndex(({ kind, text }) => kind !== "mark" && !/^(?:\d+[.)]|[-•*])$/.test(text))
    rest = start < 0 ? [] : rest.slice(start)
    const said = rest
      .slice(0, 6)
      .map(({ kind, lower }) => (kind === "word" ? lower : "\0"))
      .join(" ")
    const found = opening.exec(said)
    if (found && found[0].split(" ").length < rest.length) rest = rest.slice(found[0].split(" ").length)
    else if (said.startsWith("first ") && isFirstly(rest)) rest = rest.slice(1)
    else break
  }
  let end = rest.length
  while (end > 1 && isClosing(rest[end - 1]!, rest[end - 2]!)) end -= rest[end - 1]!.lower === "me" ? 2 : 1
  return rest.slice(0, end)
}

function isFirstly(tokens: Token[]): boolean {
  const next = tokens[1]
  return next?.text === "," || (next?.kind === "word" && isStarter(next.lower))
}

function isClosing({ kind, lower }: Token, before: Token): boolean {
  if (kind === "mark") return true
  if (kind !== "word") return false
  return (
    /^(?:please|pls|plz|thanks|thx|thank|too|now|asap|afterwards|then|and)$/.test(lower) ||
    (lower === "me" && before.lower === "for") ||
    (lower === "you" && before.lower === "thank")
  )
}
