// Replacing literal text in one file with `edit`.
import { type Clause, slice } from "../clause.ts"
import { verbs } from "../lexicon.ts"
import { pickIn } from "../picks.ts"
import { isFile } from "../recognize.ts"
import { type Call, type Json, type Proposal, says } from "../skill.ts"

const joints = /^(?:with|by|to|into|as|->|=>|→|for|in|instead)$/
const noise =
  /^(?:the|text|word|words|string|every|all|each|occurrences?|instances?|of|any|line|phrase|value|from|function|variable|name|class|method|const|import|literal|everywhere|both)$/i

export function edit(clause: Clause): Proposal | undefined {
  if (says(clause, /^(?:how|why|what|should|when|where|who|explain|is|are|does)\b/)) return undefined
  const pairs = several(clause) ?? [
    sedIn(clause) ??
      instead(clause) ??
      insertion(clause) ??
      removal(clause) ??
      correction(clause) ??
      replacement(clause),
  ]
  const [first] = pairs
  if (
    says(
      clause,
      /^(?:replace|change|rewrite|set|update|edit|delete|remove)\b(?: the| a)?(?: contents? of)? lines? \d/,
    )
  )
    return {
      score: 5,
      calls: [],
      refusal: "I replace text, not lines by their number: replace 'old text' with 'new text' in the file.",
    }
  if (says(clause, /^(?:set|change|replace|update)\b(?: the| all)*(?: whole| entire)? contents?\b/))
    return undefined
  if (!first || pairs.some((pair) => !pair?.[0] || pair[0] === pair[1])) return undefined
  const [oldText, newText] = first
  const isAll =
    says(clause, /\b(?:all|every|everywhere|each|occurrences|instances|globally)\b/) ||
    /\/g$/.test(clause.tokens.find(({ text }) => /^s\//.test(text))?.text ?? "")
  const edits: Json = pairs.map((pair) => ({
    oldText: pair![0],
    newText: pair![1],
    ...(isAll ? { replaceAll: true } : {}),
  }))
  const make = (path: string): Call[] => [{ tool: "edit", args: { path, edits } }]
  const files = clause.files.filter((file) => file !== oldText && file !== newText)
  const targets = files.length ? files : clause.files.slice(0, 1)
  if (targets.length && targets.every((file) => file !== oldText))
    return { score: 5.5, calls: targets.flatMap(make) }
  const pick = pickIn(clause)
  if (pick === "it" || pick === "each" || clause.place === undefined)
    return { score: 3.5, calls: [], after: { pick: "it", tool: "edit", make } }
  // Without a file nothing is changed; where the text is helps to name one.
  const args = { pattern: oldText, fixed: true, path: clause.place }
  return {
    score: 3.5,
    calls: [{ tool: "grep", args }],
    refusal: "I change one named file at a time: say in which.",
  }
}

const corrects =
  /^(?:->|=>|→|-->|>|(?:to )?becomes?|to (?:be|read|say)|,? ?(?:(?:but|and|which|it|that|this) )*(?:should|must|ought to|needs? to|has to|shall) (?:\w+ )?(?:be|become|say|read)|,? ?(?:please )?(?:make|change|turn|fix|correct|replace) (?:it|that|this)(?: (?:to|into|with|by|say|read|be))?)(?: (?:the|word|text))*$/

type Pair = [oldText: string, newText: string]

/** "replace Q with Q and Q with Q" */
function several(clause: Clause): Pair[] | undefined {
  if (!/^(?:replace|change|rename|swap|edit|update|in)$/.test(clause.verb)) return undefined
  const quotes = clause.tokens.flatMap((token, i) =>
    token.kind === "quote" && !isWhere(clause, i) ? [token.text] : [],
  )
  const pairs = clause.shape.match(/Q (?:with|by|to|into|->|=>|→) Q/g)?.length ?? 0
  if (pairs < 2 || quotes.length !== 2 * pairs) return undefined
  return Array.from({ length: pairs }, (_, i) => [quotes[2 * i]!, quotes[2 * i + 1]!])
}

function replacement(clause: Clause): Pair | undefined {
  const { words, tokens } = clause
  const at = words.findIndex((word) => verbs.edit.has(word) || /^(?:replacing|changing|renaming)$/.test(word))
  if (at < 0 || at > 12) return undefined
  const isSwapped = words[at] === "substitute" && words.includes("for")
  const quotes = tokens.flatMap((token, i) =>
    token.kind === "quote" && i > at && !isWhere(clause, i) ? [token.text] : [],
  )
  if (quotes.length >= 2) return isSwapped ? [quotes[1]!, quotes[0]!] : [quotes[0]!, quotes[1]!]
  const where = places(clause)
  const inside = (i: number) => where.some(([from, to]) => i >= from && i < to)
  // "set the port to 80" describes; what is replaced must stand there.
  if (!quotes.length && isDescribed(clause, at)) return undefined
  const joint = words.findIndex(
    (word, i) => i > at + 1 && joints.test(word) && !inside(i) && i < tokens.length - 1,
  )
  if (joint < 0) return undefined
  const since = words.findIndex((word, i) => i > at && word === "from" && !inside(i))
  const upTo = words.findIndex((word, i) => i > since + 1 && /^(?:to|into)$/.test(word) && !inside(i))
  if (since > 0 && upTo > 0 && !quotes.length) {
    const after = where.find(([from]) => from > upTo)?.[0] ?? tokens.length
    const [old, own] = [part(clause, since + 1, upTo), part(clause, upTo + 1, after)]
    if (old && own) return [old, own]
  }
  const end = where.find(([from]) => from > joint)?.[0] ?? tokens.length
  const left = where.find(([from, to]) => from > at && to <= joint)
  const first = part(clause, at + 1, left ? left[0] : joint) || part(clause, left?.[1] ?? joint, joint)
  const second = part(clause, joint + 1, end)
  if (!first || second === undefined) return undefined
  if (/^(?:nothing|an empty string|emptiness)$/.test(second)) return [first, ""]
  return isSwapped ? [second, first] : [first, second]
}

function isDescribed({ words }: Clause, at: number): boolean {
  const verb = words[at]!
  if (/^(?:replace|substitute|swap|rename|replacing|renaming)$/.test(verb) || words.includes("from"))
    return false
  if (!/^(?:change|changing)$/.test(verb)) return true
  return (
    /^(?:the|my|our|its|this|that|all|how|what|it)$/.test(words[at + 1] ?? "") &&
    !/^(?:text|word|string|name|function|variable|phrase|line|literal|value|class|method)$/.test(
      words[at + 2] ?? "",
    )
  )
}

/** One side of a replacement: what is quoted in it, or its words. */
function part(clause: Clause, from: number, to: number): string | undefined {
  const tokens = clause.tokens.slice(from, to)
  const quote = tokens.find(({ kind }) => kind === "quote")
  if (quote) return quote.text
  let [start, end] = [from, to]
  while (start < end - 1 && noise.test(clause.tokens[start]!.lower)) start++
  // "change the port from 3000"
  const since = clause.words.slice(start, end).lastIndexOf("from")
  if (since >= 0 && start + since < end - 1) start += since + 1
  while (
    end > start + 1 &&
    (clause.tokens[end - 1]!.kind === "mark" ||
      /^(?:everywhere|instead|too|throughout|globally)$/.test(clause.words[end - 1] ?? ""))
  )
    end--
  return slice(clause, start, end) || undefined
}

/** Where "in the file x.ts" stands. */
function places({ tokens, words, files }: Clause): [number, number][] {
  return tokens.slice(0, words.length).flatMap((token, i): [number, number][] => {
    const isFileHere =
      token.kind === "word"
        ? isFile(token.text) || files.includes(token.text)
        : token.kind === "quote" && files.includes(token.text)
    if (!isFileHere) return []
    let from = i
    while (
      from > 0 &&
      /^(?:the|file|in|inside|of|within|my|our|called|named|on|to|from)$/.test(words[from - 1]!)
    ) {
      from--
      if (/^(?:in|inside|of|within|on)$/.test(words[from]!)) break
    }
    return /^(?:in|inside|of|within|on)$/.test(words[from]!) || (i <= 2 && token.kind === "word")
      ? [[from, i + 1]]
      : []
  })
}

function isWhere(clause: Clause, at: number): boolean {
  return places(clause).some(([from, to]) => at >= from && at < to)
}

/** "Q should be Q", "Q -> Q", "says Q, make it Q": what is wrong, and how it is right. */
function correction(clause: Clause): Pair | undefined {
  if (!clause.files.length) return undefined
  const quotes = clause.tokens.flatMap((token, i) =>
    token.kind === "quote" && !isWhere(clause, i) ? [{ text: token.text, at: i }] : [],
  )
  const [wrong, right] = quotes
  const arrow = clause.words.findIndex((word) => /^(?:->|=>|→|-->)$/.test(word))
  if (!quotes.length && arrow > 0) {
    const [before, after] = [clause.tokens[arrow - 1], clause.tokens[arrow + 1]]
    if (before?.kind === "word" && after?.kind === "word" && !isFile(before.text) && !isFile(after.text))
      return [before.text, after.text]
  }
  if (!wrong || !right || quotes.length > 2) return undefined
  const between = clause.tokens.slice(wrong.at + 1, right.at).map(({ lower }) => lower)
  return corrects.test(between.join(" ")) ? [wrong.text, right.text] : undefined
}

/** "use Q instead of Q" */
function instead(clause: Clause): Pair | undefined {
  if (!says(clause, /\bQ (?:instead of|rather than|in place of) Q/)) return undefined
  const [newText, oldText] = clause.quotes
  return [oldText!.text, newText!.text]
}

/** `s/old/new/g` */
function sedIn({ tokens }: Clause): Pair | undefined {
  for (const { text } of tokens.slice(0, 50)) {
    if (text.length > 1_000 || !/^s([/|#])/.test(text)) continue
    const [, oldText, newText, flags, more] = text.split(text[1]!)
    if (oldText && newText !== undefined && flags !== undefined && more === undefined)
      return [oldText, newText]
  }
  return undefined
}

/** "add 'x' after 'y' in f.ts" */
function insertion(clause: Clause): Pair | undefined {
  if (!verbs.insert.has(clause.verb)) return undefined
  const side = /Q (?:right |directly |just )?(after|before|below|above)(?: the)?(?: line| text)? Q/.exec(
    clause.shape,
  )?.[1]
  const [added, place] = clause.quotes
  if (!side || !added || !place) return undefined
  return [
    place.text,
    /after|below/.test(side) ? `${place.text}\n${added.text}` : `${added.text}\n${place.text}`,
  ]
}

/** "remove 'x' from f.ts" */
function removal(clause: Clause): Pair | undefined {
  if (!verbs.remove.has(clause.verb) || clause.quotes.length !== 1 || !clause.files.length) return undefined
  const quote = clause.quotes[0]!
  if (clause.files.includes(quote.text) || !says(clause, /Q (?:from|in|out of)\b/)) return undefined
  return [quote.text, ""]
}
