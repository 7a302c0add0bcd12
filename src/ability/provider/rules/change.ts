// Changes of files. Every rule needs the text and the file literally; what is only described is refused.
import { type Clause, slice } from "./clause.ts"
import { match } from "./match.ts"
import { isFile } from "./recognize.ts"
import { isMissing, type Made } from "./results.ts"
import type { Call, Json, Proposal } from "./skill.ts"

type Pair = [oldText: string, newText: string]

export function change(clause: Clause): Proposal | undefined {
  return replace(clause) ?? insert(clause) ?? write(clause) ?? remove(clause)
}

const makes = "create|make|add|start|generate|write|new|produce|touch"
const saves = "write|save|put|store|jot|jot_down|insert|echo|print|output|overwrite"
const name = "$new* <file:$file>"

function write(clause: Clause): Proposal | undefined {
  const given = match(
    clause,
    `${saves} $content* <text:Q> to|into|in|as|inside|to_a|over ${name}`,
    `${saves} $content* to|into|in|as|over? ${name} : \n* <text:Q>`,
    `${saves} $content* \n* <text:Q> \n* to|into|in|as ${name}`,
    `${makes}|${saves} ${name} $holds|and|: $holds* $content* \n* <text:Q> in_it|inside|inside_it?`,
  )
  if (given) return writing(clause, given.get("file")!, given.get("text")!)
  const tail =
    match(
      clause,
      `${saves} $content* to|into|in|as ${name} : \n* <text>`,
      `${makes}|${saves} ${name} : \n* <text>`,
      `${makes}|${saves} ${name} $holds $content* : \n* <text>`,
      `${makes}|${saves} ${name} $holds $a? following? content|contents|text|line|word|words <text>`,
    ) ?? match(clause, `${makes} ${name} containing|saying <text:\\w>`)
  if (tail) return writing(clause, tail.get("file")!, tail.rest("text"))
  const empty =
    match(clause, `${makes} ${name} in|inside|under $a? <folder:D> folder|directory?`) ??
    match(clause, `${makes} ${name}`)
  if (!empty || !/\b(?:file|empty|blank)\b|^touch\b/.test(clause.shape)) return undefined
  const folder = empty.get("folder")?.replace(/\/+$/, "")
  return writing(clause, folder ? `${folder}/${empty.get("file")}` : empty.get("file")!, "")
}

/** Who creates a file means a new one; who writes or saves to one means all of it. */
function writing({ verb }: Clause, path: string, content: string): Proposal {
  const call: Call = { tool: "write", args: { path, content } }
  if (/^(?:write|save|store|overwrite|echo|print|output)$/.test(verb)) return { calls: [call] }
  return {
    calls: [{ tool: "read", args: { path } }],
    after: {
      pick: "own",
      tool: "write",
      make: (_, [found]) => (isMissing(found) ? [call] : []),
      otherwise: `${path} is already there. To replace all of it: write '…' to ${path}; to add to it: append '…' to ${path}`,
    },
  }
}

const changes =
  "replace|change|swap|substitute|rename|update|convert|switch|turn|modify|edit|set|fix|correct|sed|alter|replacing|changing|renaming|use|make|find_and_replace|search_and_replace"
const becomes =
  "->|=>|→|should_be|should_say|should_read|must_be|becomes|become|to_become|to_be|,_make_it|,_make_that|,_change_it_to|,_it_should_be|,_should_be|make_it|to_read|to_say"
/** Said around a replacement without changing it. */
const frame = "i|want|need|would|like|so|that|says|has|contains|$all|:|,|please|you|should"

function replace(clause: Clause): Proposal | undefined {
  const sed = sedIn(clause)
  const place = withoutFile(clause)
  if (!place) return undefined
  const { clause: rest, path, isIt = false } = place
  const found =
    sed ??
    pairOf(rest, `${changes} $all* <old:Q> $to <new:Q> $end*`) ??
    pairOf(rest, `${changes}? ${frame}* <old:Q> ${becomes} ${frame}* <new:Q> $end*`) ??
    pairOf(rest, `${changes} \\w* $all* from <old:Q> to|into <new:Q> $end*`) ??
    bare(pairOf(rest, "replace|swap|rename|substitute|replacing|renaming $each* <old:Q|\\w> $to <new:Q|\\w> $end*")) ??
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

/** Without a file it is the one of the step before, or the one that "it" points at. */
function editing(path: string | undefined, edits: Json, isIt = false): Proposal {
  const make = (path: string): Call[] => [{ tool: "edit", args: { path, edits } }]
  if (path) return { calls: make(path) }
  return {
    calls: [],
    after: { pick: isIt ? "it" : "before", tool: "edit", make, otherwise: "say in which file" },
  }
}

/** "in the file F" taken out, wherever it stands. None of it is what is replaced. */
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
  return { clause: cut(clause, found.index, found.index + found[0].length), path: tokenAt(found).text }
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

/** Words without quotes are taken literally only if they can be: "replace tabs with spaces" describes. */
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

/** Lines at the end or the start of a file, which is read first, or beside text that is named. */
function insert(clause: Clause): Proposal | undefined {
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

/** The lines at that end are replaced by themselves and the new ones; as many of them as occur only once. */
function addTo(
  { path, text, side }: { path: string; text: string; side: "start" | "end" },
  found: Made,
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

/** Files that are named are deleted, moved and copied by a command, for which permission is asked. */
function remove(clause: Clause): Proposal | undefined {
  const plain = clause.files.every((file) => /^[\w.@/+ ~-]+$/.test(file) && !file.startsWith("-"))
  if (!plain || !clause.files.length) return mkdir(clause)
  if (match(clause, "delete|remove|rm -f|-rf|-r? $a|both* file|files? $file and|,|&|$file|the|file*"))
    return command(`rm ${clause.files.map(quoted).join(" ")}`)
  const moved = match(
    clause,
    "<verb:rename|move|mv|copy|cp> $a? file? <from:F> to|into|as|->? $a? file? <to:F>",
  )
  if (!moved) return undefined
  const [from, to] = [quoted(moved.get("from")!), quoted(moved.get("to")!)]
  return command(`test ! -e ${to} && ${/^c/.test(moved.get("verb")!) ? "cp" : "mv"} ${from} ${to}`)
}

function mkdir(clause: Clause): Proposal | undefined {
  const made = match(clause, "create|make|add|new $new* folder|directory|dir called|named? <folder:D|Q>")
  const folder = made?.get("folder")
  return folder && /^[\w.@/+ ~-]+$/.test(folder) ? command(`mkdir -p ${quoted(folder)}`) : undefined
}

function command(command: string): Proposal {
  return { calls: [{ tool: "bash", args: { command } }] }
}

export function quoted(path: string): string {
  return /^[\w.@/+~-]+$/.test(path) ? path : `'${path}'`
}

/** What would have to be said, for a change that is only described. */
export function needs(clause: Clause): string {
  const file = clause.files[0] ?? "FILE"
  if (/^(?:delete|remove|erase|rm|trash|drop|wipe|purge|clean|clear)/.test(clause.verb))
    return `I delete only files that are named: delete ${clause.files[0] ?? "notes.txt"}`
  const what = slice(clause, 0).length > 80 ? "this" : `"${slice(clause, 0)}"`
  return `${what} leaves open what to write. I change a file only when the words say it literally:\n  replace 'old text' with 'new text' in ${file}\n  add the line 'new text' at the top of ${file}   (or: at the end of, after 'text' in)\n  write 'all of the text' to ${file}`
}
