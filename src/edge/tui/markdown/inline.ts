// The inline part of Markdown: bold, italic, strike, code, links, escapes. It is our own, because a frame must never wait:
// the cost is linear for any text (marked 18 needs 250 ms for 4,000 characters of `_a`). HTML is text.
import type { Role } from "#edge/tui/screen/line.ts"
import { createEmphasis, type Emphasis } from "./emphasis.ts"

/** A piece of text with the roles it is painted with. `href`: where it leads. `isAddress`: it repeats the address of the link
 * before it. */
export type Span = { text: string; roles: readonly Role[]; href?: string; isAddress?: true }
/** A piece while the text is read; marks that turn out to be text stay in it. */
export type Piece = {
  text: string
  isText?: true
  roles?: Role[]
  begins?: Role[]
  ends?: Role[]
  href?: string
  isAddress?: true
}
type Bracket = { at: number; isImage: boolean; marks: number }
type Scan = { text: string; pieces: Piece[]; brackets: Bracket[]; emphasis: Emphasis; code: CodeEnds }
type CodeEnds = (mark: number, from: number) => number

const token =
  /\\[!-/:-@[-`{-~]|`+|\*+|_+|~+|!?\[|\]|<(?:https?:\/\/|mailto:)[^<>\s]*>|&(?:lt|gt|amp|quot|apos|nbsp|#39);|(?<![\p{L}\p{N}_/])https?:\/\/[^\s<>[\]`|]+|(?:[^\\`*_~![\]<&h]|h(?!ttps?:))+|./gsuy
const destination =
  /\(\s*(?:<([^<>\n]{0,2000})>|([^\s()]{0,2000}(?:\([^\s()]{0,200}\)[^\s()]{0,200}){0,9}))(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s*\)/y
const addressLike = /:\/\/|^www\.|[\p{L}\p{N}][.。．｡][\p{L}\p{N}]{2,}|\d\.\d|localhost/iu
/** Characters that take no cell, such as U+200B. */
const invisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
const plain: readonly Role[] = []
const entities = new Map([
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&amp;", "&"],
  ["&quot;", '"'],
  ["&apos;", "'"],
  ["&#39;", "'"],
  ["&nbsp;", " "],
])

export function parseInline(text: string): Span[] {
  const pieces: Piece[] = []
  const scan: Scan = { text, pieces, brackets: [], emphasis: createEmphasis(pieces), code: codeEnds(text) }
  token.lastIndex = 0
  for (let at = 0; at < text.length; ) {
    token.lastIndex = at
    const found = token.exec(text)?.[0] ?? text[at]!
    at = takeToken(scan, found, at)
  }
  scan.emphasis.resolve(0)
  return spansOf(pieces)
}

/** Returns the index behind what was taken. */
function takeToken(scan: Scan, found: string, at: number): number {
  const { pieces, emphasis, text } = scan
  const end = at + found.length
  switch (found[0]) {
    case "\\":
      add(scan, found.length === 2 ? found[1]! : found)
      return end
    case "`":
      return takeCode(scan, found, at)
    case "*":
    case "_":
    case "~":
      pieces.push({ text: found })
      emphasis.add({ mark: found, before: charBefore(text, at), after: charAfter(text, end) })
      return end
    case "!":
    case "[":
      if (!found.endsWith("[")) break
      scan.brackets.push({ at: pieces.length, isImage: found.length === 2, marks: emphasis.size() })
      pieces.push({ text: found })
      return end
    case "]":
      return closeBracket(scan, end)
    case "<":
      if (found.length < 2) break
      pieces.push({ text: found.slice(1, -1), roles: ["link"], href: found.slice(1, -1) })
      return end
    case "&":
      add(scan, entities.get(found) ?? found)
      return end
    case "h":
      if (/^https?:\/\//.test(found)) return takeAddress(scan, found, at)
  }
  add(scan, found)
  return end
}

function add({ pieces }: Scan, text: string): void {
  const last = pieces.at(-1)
  if (last?.isText) last.text += text
  else pieces.push({ text, isText: true })
}

function takeCode({ text, pieces, code }: Scan, mark: string, at: number): number {
  const start = at + mark.length
  const end = code(mark.length, start)
  if (end < 0) {
    pieces.push({ text: mark })
    return start
  }
  const inner = text.slice(start, end).replaceAll("\n", " ")
  const isPadded = /^ .* $/.test(inner) && inner.trim() !== ""
  pieces.push({ text: isPadded ? inner.slice(1, -1) : inner, roles: ["code"] })
  return end + mark.length
}

/** Finds the next run of backticks of a length. Each list is walked once. */
function codeEnds(text: string): CodeEnds {
  let runs: Map<number, RegExpExecArray[]> | undefined
  const next = new Map<number, number>()
  return (length, from) => {
    runs ??= Map.groupBy([...text.matchAll(/`+/g)], ([run]) => run.length)
    const all = runs.get(length) ?? []
    let i = next.get(length) ?? 0
    while (i < all.length && all[i]!.index < from) i++
    next.set(length, i)
    return all[i]?.index ?? -1
  }
}

/** A bare address ends before punctuation that belongs to the sentence. */
function takeAddress({ pieces }: Scan, found: string, at: number): number {
  let address = found.replace(/[.,;:!?'"*_~]+$/, "")
  while (address.endsWith(")") && count(address, ")") > count(address, "("))
    address = address.slice(0, -1).replace(/[.,;:!?'"*_~]+$/, "")
  pieces.push({ text: address, roles: ["link"], href: address })
  return at + address.length
}

function count(text: string, character: string): number {
  return text.split(character).length - 1
}

/** `[text](address)`: the text is underlined, and the address follows if it says something else. */
function closeBracket(scan: Scan, end: number): number {
  const { pieces, brackets, emphasis, text } = scan
  const open = brackets.pop()
  destination.lastIndex = end
  const found = open && text[end] === "(" ? destination.exec(text) : null
  if (!open || !found) {
    add(scan, "]")
    return end
  }
  emphasis.resolve(open.marks)
  const address = found[1] ?? found[2] ?? ""
  const label = pieces
    .slice(open.at + 1)
    .map((piece) => piece.text)
    .join("")
  pieces[open.at] = { text: open.isImage ? "image: " : "", begins: ["link"], href: address }
  pieces.push({ text: "", ends: ["link"] })
  if (address !== "" && !isSame(label, address))
    pieces.push({
      text: ` (${address})`,
      roles: ["dim"],
      // A text that looks like an address must not hide another one.
      ...(addressLike.test(label.replace(invisible, "")) ? {} : { isAddress: true as const }),
    })
  // A link holds no other link.
  if (!open.isImage) brackets.length = 0
  return end + found[0].length
}

function isSame(label: string, address: string): boolean {
  const short = address.replace(/^(https?:\/\/|mailto:)/, "").replace(/\/$/, "")
  return label === address || label.replace(/\/$/, "") === short
}

/** Made in one sweep; neighbours with the same roles become one. */
function spansOf(pieces: readonly Piece[]): Span[] {
  const depth = new Map<Role, number>()
  const spans: Span[] = []
  let around = plain
  let inside: string | undefined
  for (const { text, roles: own, begins, ends, href, isAddress } of pieces) {
    if (ends?.length) around = rolesAfter(depth, ends, -1)
    if (ends?.includes("link")) inside = undefined
    if (text !== "") {
      const roles = own ? [...new Set([...around, ...own])].sort() : around
      const to = begins ? undefined : (href ?? inside)
      const last = spans.at(-1)
      if (last?.roles === roles && last.href === to) last.text += text
      else spans.push({ text, roles, ...(to ? { href: to } : {}), ...(isAddress ? { isAddress } : {}) })
    }
    if (begins?.length) around = rolesAfter(depth, begins, 1)
    if (begins?.includes("link")) inside = href
  }
  return spans
}

function rolesAfter(depth: Map<Role, number>, changed: readonly Role[], by: number): readonly Role[] {
  for (const role of changed) depth.set(role, (depth.get(role) ?? 0) + by)
  const now = [...depth].filter(([, times]) => times > 0).map(([role]) => role)
  return now.length ? now.sort() : plain
}

function charBefore(text: string, at: number): string {
  const code = text.charCodeAt(at - 1)
  return code >= 0xdc00 && code <= 0xdfff ? text.slice(at - 2, at) : text.slice(Math.max(0, at - 1), at)
}

function charAfter(text: string, at: number): string {
  return at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : ""
}
