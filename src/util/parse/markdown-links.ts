// The links of a Markdown text, `[text](path)`, with their link texts. Images and links in code or comments do not
// count. Linear time for any text.
import { type Paragraph, paragraphsOf } from "./markdown-paragraphs.ts"

/** `relativePath` is as it was written; `filePathOf` gives the file. Lines are counted from 1. */
export type MarkdownLink = { displayText: string; relativePath: string; lineNumber: number }

export type LinkOptions = {
  /** Only links whose path matches the pattern. */
  pathPattern?: RegExp
  /** Only links to files with these extensions: [".md", ".ts"]. */
  extensions?: readonly string[]
  /** Also links with a scheme or a host. */
  includeExternal?: boolean
}

type Target = { path: string; end: number }

const maxPath = 4_096
const maxTitle = 1_024
const maxParentheses = 32
const punctuation = /^[!-/:-@[-`{-~]$/

/** In the order of the text. */
export function extractMarkdownLinks(content: string, options: LinkOptions = {}): MarkdownLink[] {
  const found: MarkdownLink[] = []
  for (const paragraph of paragraphsOf(content))
    for (const link of linksIn(paragraph)) if (isWanted(link.relativePath, options)) found.push(link)
  return found
}

/** Whether a path has a scheme or a host, so that it is not a file of the project. */
export function isExternalLink(path: string): boolean {
  // A single letter is a drive, as in `C:`.
  return /^[a-z][a-z\d+.-]+:/i.test(path) || /^[\\/]{2}/.test(path)
}

/** The extension with its dot, or "". A "#" or "?" ends the file name. */
export function getExtension(path: string): string {
  const file = path.replace(/[#?].*$/s, "")
  const name = file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1)
  const dot = name.lastIndexOf(".")
  return dot < 0 ? "" : name.slice(dot)
}

/** The file that a path names: without the anchor, and percent-decoded. */
export function filePathOf(relativePath: string): string {
  const path = relativePath.replace(/#.*$/s, "")
  if (!path.includes("%")) return path
  try {
    const decoded = decodeURIComponent(path)
    return /\p{Cc}/u.test(decoded) ? path : decoded
  } catch {
    return path
  }
}

function isWanted(path: string, { pathPattern, extensions, includeExternal }: LinkOptions): boolean {
  if (path.startsWith("#")) return false
  if (!includeExternal && isExternalLink(path)) return false
  // Not `test`: a pattern with the flag "g" would continue after its last match.
  if (pathPattern && path.search(pathPattern) < 0) return false
  return !extensions?.length || extensions.includes(getExtension(path))
}

/** Brackets are matched by a stack. Links do not nest, and nothing inside an image is a link. */
function linksIn({ text: words, masked: text, line }: Paragraph): MarkdownLink[] {
  const links: MarkdownLink[] = []
  const stack: { at: number; isImage: boolean; links: number }[] = []
  const lineAt = lineCounter(text, line)
  // This many openings at the bottom of the stack enclose a link, so they cannot become links themselves.
  let spent = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === "\\") at++
    else if (char === "[") {
      const isImage = text[at - 1] === "!" && text[at - 2] !== "\\"
      stack.push({ at, isImage, links: links.length })
    } else if (char === "]") {
      const opening = stack.pop()
      if (!opening) continue
      const isSpent = stack.length < spent && !opening.isImage
      spent = Math.min(spent, stack.length)
      const target = !isSpent && text[at + 1] === "(" ? targetAt(text, at + 2) : undefined
      if (!target) continue
      if (opening.isImage) links.length = opening.links
      else {
        const displayText = words
          .slice(opening.at + 1, at)
          .replace(/\s+/g, " ")
          .trim()
        if (displayText && target.path)
          links.push({ displayText, relativePath: target.path, lineNumber: lineAt(opening.at) })
        spent = stack.length
      }
      at = target.end
    }
  }
  return links
}

/** Offsets must be passed in ascending order. */
function lineCounter(text: string, first: number): (at: number) => number {
  let line = first
  let end = text.indexOf("\n")
  return (at) => {
    for (; end >= 0 && end < at; end = text.indexOf("\n", end + 1)) line++
    return line
  }
}

/** Reads what follows "(": a path, perhaps a title, and ")". */
function targetAt(text: string, start: number): Target | undefined {
  const at = skipBlanks(text, start)
  const path = text[at] === "<" ? bracketedPath(text, at) : plainPath(text, at)
  if (!path) return undefined
  let end = skipBlanks(text, path.end)
  if (text[end] !== ")" && end > path.end) end = skipBlanks(text, afterTitle(text, end))
  return text[end] === ")" ? { path: path.path, end } : undefined
}

function bracketedPath(text: string, start: number): Target | undefined {
  const limit = Math.min(text.length, start + maxPath)
  for (let at = start + 1; at < limit; at++) {
    const char = text[at]!
    if (char === "\\") at++
    else if (char === ">") return { path: unescaped(text.slice(start + 1, at)), end: at + 1 }
    else if (char === "<" || char === "\n") return undefined
  }
  return undefined
}

function plainPath(text: string, start: number): Target | undefined {
  const limit = Math.min(text.length, start + maxPath)
  let depth = 0
  let at = start
  for (; at < limit; at++) {
    const char = text[at]!
    if (char === "\\" && punctuation.test(text[at + 1] ?? "")) at++
    else if (char <= " " || (char === ")" && depth === 0)) break
    else if (char === ")") depth--
    else if (char === "(" && ++depth > maxParentheses) return undefined
  }
  return depth === 0 && at < limit ? { path: unescaped(text.slice(start, at)), end: at } : undefined
}

/** The position after the title that begins at `start`, or `start` if there is none. */
function afterTitle(text: string, start: number): number {
  const close = { '"': '"', "'": "'", "(": ")" }[text[start] ?? ""]
  if (!close) return start
  const limit = Math.min(text.length, start + maxTitle)
  for (let at = start + 1; at < limit; at++) {
    if (text[at] === "\\") at++
    else if (text[at] === close) return at + 1
  }
  return start
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (at < text.length && at < start + maxPath && " \t\n".includes(text[at]!)) at++
  return at
}

function unescaped(path: string): string {
  return path.replace(/\\([!-/:-@[-`{-~])/g, "$1")
}
