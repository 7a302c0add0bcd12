// Replaces and inserts literal text in a named file.
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import { match, pathOf } from "#ability/provider/rules/words/match.ts"
import { isFile } from "#ability/provider/rules/words/recognize.ts"
import { type Call, isMissing, type Json, type Proposal, type Result } from "./proposal.ts"

type Pair = [oldText: string, newText: string]

const changes =
  "replace|change|swap|substitute|rename|update|convert|switch|turn|modify|edit|set|fix|correct|sed|alter|replacing|changing|renaming|use|make|find_and_replace|search_and_replace"
const becomes =
  "->|=>|→|should_be|should_say|should_read|must_be|becomes|become|to_become|to_be|,_make_it|,_make_that|,_change_it_to|,_it_should_be|,_should_be|make_it|to_read|to_say"
/** Words around a replacement that do not change its meaning. */
const frame = "i|want|need|would|like|so|that|says|has|contains|$all|:|,|please|you|should"

export function replace(clause: Clause): Proposal | undefined {
  const sed = sedIn(clause)
  const place = withoutFile(clause)
  if (!place) return undefined
  const { clause: rest, path, isIt = false } = place
  const found =
    sed ??
    pairOf(rest, `${changes} $all* <old:Q> $to <new:Q> $end*`) ??
    pairOf(rest, `${changes}? ${frame}* <old:Q> ${becomes} ${frame}* <new:Q> $end*`) ??
    pairOf(rest, `${changes} \\w* $all* from <old:Q> to|into <new:Q> $end*`) ??
    bare(
      pairOf(
        rest,
        "replace|swap|rename|substitute|replacing|renaming $each* <old:Q|\\w> $to <new:Q|\\w> $end*",
      ),
    ) ??
    bare(pairOf(rest, "change|changing $each* <old:Q|\\w> to|into <new:Q|\\w> $end*")) ??
    bare(pairOf(rest, "<old:\\w> ->|=>|→ <new:\\w>")) ??
    numbers(pairOf(rest, "change|update|set|replace \\w* from <old:\\w> to|into <new:\\w> $end*")) ??
    pairOf(rest, "use <new:Q> instead_of|rather_than <old:Q>") ??
    pairOf(rest, "remove|delete|strip|drop|erase $all* <old:Q>")
  const pairs = found ? [found] : several(rest)
  if (!pairs.length || pairs.some(([old, own]) => !old || old === own)) return undefined
  const isSwapped = clause.verb === "substitute" && rest.words.includes("for")
  const isAll =
    /\b(?:all|every|everywhere|each|occurrences|instances|globally|throughout)\b/.test(rest.shape) ||
    /\/g$/.test(clause.tokens.find(({ text }) => /^s\//.test(text))?.text ?? "")
  const edits: Json = pairs.map(([old, own]) => ({
    oldText: isSwapped ? own : old,
    newText: isSwapped ? old : own,
    ...(isAll ? { replaceAll: true } : {}),
  }))
  return editing(path, edits, isIt)
}

/** Without a path: the file of the step before, or the one that "it" refers to. */
function editing(path: string | undefined, edits: Json, isIt = false): Proposal {
  const make = (path: string): Call[] => [{ tool: "edit", args: { path, edits } }]
  if (path) return { calls: make(path) }
  return {
    calls: [],
    after: { pick: isIt ? "it" : "before", tool: "edit", make, otherwise: "say in which file" },
  }
}

/** Removes "in the file F" from the clause, wherever it stands, so that it is not taken for text to replace. */
function withoutFile(clause: Clause): { clause: Clause; path?: string; isIt?: boolean } | undefined {
  const { shape } = clause
  const inFile =
    /(?:^| )(?:in|inside|of|within|on|from) (?:the |my |our |this )?(?:file )?(?:called |named )?(F|Q)(?: ?[,:])?(?= |$)/g
  const tokenAt = (found: RegExpExecArray) => {
    const at = found.index + found[0].lastIndexOf(found[1]!)
    return clause.tokens[shape.slice(0, at).split(" ").length - 1]!
  }
  const found =
    [...shape.matchAll(inFile)].find((one) => one[1] === "F" || isFile(tokenAt(one).text)) ??
    /^(?:(?:edit|update|open|modify|change|in|fix) )?(?:the )?(?:file )?(F)(?: [,:]| and| so that| says| has| contains)?(?= )/.exec(
      shape,
    ) ??
    /(?:^| )(F)$/.exec(shape)
  const isIt = / (?:in|inside|of) (?:it|that file|this file|the file)$/.exec(shape)
  if (isIt) return { clause: cut(clause, isIt.index, shape.length), isIt: true }
  if (!found) return clause.quotes.length > 1 ? { clause } : undefined
  return { clause: cut(clause, found.index, found.index + found[0].length), path: pathOf(tokenAt(found)) }
}

function cut(clause: Clause, from: number, to: number): Clause {
  const [first, last] = [from, to].map((place) => clause.shape.slice(0, place).trim().split(" ").length)
  const start = from === 0 ? 0 : first!
  const keep = <T>(list: T[]) => [...list.slice(0, start), ...list.slice(last!)]
  const shape = keep(clause.shape.split(" ")).join(" ")
  return { ...clause, shape, tokens: keep(clause.tokens), words: keep(clause.words) }
}

function pairOf(clause: Clause, form: string): Pair | undefined {
  const found = match(clause, form)
  const old = found?.get("old")
  if (old === undefined) return undefined
  const own = found!.get("new") ?? ""
  return /^(?:nothing|an empty string)$/.test(own) ? [old, ""] : [old, own]
}

/** Words without quotes count as literal text only if they can be: "replace tabs with spaces" is a description. */
function bare(pair: Pair | undefined): Pair | undefined {
  const describes =
    /^(?:[a-z]{3,}s|it|this|that|them|one|everything|something|anything|nothing|code|text|whitespace|indentation|line|an?|the|another|better)$/
  return pair?.every((text) => text && !describes.test(text)) ? pair : undefined
}

/** "the port from 3000 to 4000" */
function numbers(pair: Pair | undefined): Pair | undefined {
  return pair?.every((text) => /^\S*\d\S*$/.test(text)) ? pair : undefined
}

/** "replace Q with Q and Q with Q" */
function several({ shape, quotes }: Clause): Pair[] {
  if (!/^(?:replace|change|rename|swap) (?:Q (?:with|by|to|into) Q(?: and| ,)* ?){2,}$/.test(shape)) return []
  return Array.from({ length: quotes.length / 2 }, (_, i) => [quotes[2 * i]!.text, quotes[2 * i + 1]!.text])
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

const adds = "add|insert|append|prepend|put|place|write"

/** Inserts lines at the end or the start of a file, which is read first, or beside given text. */
export function insert(clause: Clause): Proposal | undefined {
  const beside = match(
    clause,
    `${adds} $all* <text:Q> right|directly|just? <side:after|before|below|above> $all* <old:Q> $in $a? file? <file:F>`,
    `in|inside|to $a? file? <file:F> ,? ${adds} $all* <text:Q> right|directly|just? <side:after|before|below|above> $all* <old:Q>`,
  )
  if (beside) {
    const [text, old] = [beside.get("text")!, beside.get("old")!]
    const newText = /after|below/.test(beside.get("side")!) ? `${old}\n${text}` : `${text}\n${old}`
    return editing(beside.get("file"), [{ oldText: old, newText }])
  }
  const what = `${adds} $all|comment|new|a|entry|this|following|:|a_new_line|code* <text:Q>`
  const top = "top|beginning|start|head|first_line"
  const first = match(
    clause,
    `${what} at|to|on|as|in $a? very? ${top} $in $a? file? <file:$file>`,
    `prepend $all|comment* <text:Q> to $a? file? <file:$file>`,
    `at $a? ${top} $in $a? file? <file:$file> ,? ${what}`,
  )
  if (first) return adding(first.get("file")!, first.get("text")!, "start")
  const last = match(
    clause,
    `${what} to|at|on|in|into $a? very? end|bottom $in $a? file? <file:$file>`,
    `append|add $all|comment|new|a|entry|this|following* <text:Q> to|into|in $a? file? <file:$file>`,
    `append|add to $a? file? <file:$file> : \n* <text:Q>`,
  )
  return last ? adding(last.get("file")!, last.get("text")!, "end") : undefined
}

function adding(path: string, text: string, side: "start" | "end"): Proposal {
  return {
    calls: [{ tool: "read", args: { path } }],
    after: {
      pick: "own",
      tool: "edit",
      otherwise: `the ${side} of ${path} cannot be named, so nothing was added`,
      make: (_, [found]) => (found ? addTo({ path, text: text.replace(/\n$/, ""), side }, found) : []),
    },
  }
}

/** Replaces the lines at that end by themselves and the new ones: as many lines as are unique in the file. */
function addTo(
  { path, text, side }: { path: string; text: string; side: "start" | "end" },
  found: Result,
): Call[] {
  if (isMissing(found) || found.output === "(empty file)")
    return [{ tool: "write", args: { path, content: `${text}\n` } }]
  const lines = found.output
    .split("\n")
    .flatMap((line) => (/^\d+\t/.test(line) ? [line.slice(line.indexOf("\t") + 1)] : []))
  const isCut = /\[.*(?:lines in all|go on with startLine)/.test(found.output)
  if (found.isError || (isCut && side === "end")) return []
  const whole = `\n${lines.join("\n")}\n`
  for (let count = 1; count <= lines.length && count <= 20; count++) {
    const oldText = (side === "end" ? lines.slice(-count) : lines.slice(0, count)).join("\n")
    if (!oldText.trim() || whole.split(oldText).length !== 2 || isCut) continue
    const newText = side === "end" ? `${oldText}\n${text}` : `${text}\n${oldText}`
    return [{ tool: "edit", args: { path, edits: [{ oldText, newText }] } }]
  }
  return []
}
