// Reads a document as pages of lines with numbers: Markdown and text as they are, HTML without its tags, PDF by its text.
import { extname } from "node:path"
import { readBytes, readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import type { Line } from "#knowledge/rules/chunk-markdown.ts"
import { htmlLines } from "./html-lines.ts"
import type { PdfReader } from "./pdf-reader.ts"

/** `page` is 0 if the format has no pages; the numbers of lines begin with each page. `problem`: why a part is missing. */
export type Content = { title?: string; pages: { page: number; lines: Line[] }[]; problem?: string }

/** Bytes of a document that are read. A part of a PDF file cannot be read. */
const maxBytes = 4 << 20
const maxPdfBytes = 64 << 20
const html = new Set([".html", ".htm", ".xhtml"])
const plain = new Set([".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org"])

/** Whether the file can be a document, by its name. */
export function isDocument(file: string): boolean {
  const end = extname(file).toLowerCase()
  return plain.has(end) || html.has(end) || isPdf(file)
}

export function isPdf(file: string): boolean {
  return extname(file).toLowerCase() === ".pdf"
}

/** `root` is a real path; no link leads out of it. Throws `Document.Unreadable`. */
export function readContent(root: string, path: string): Content {
  const { text, isCut, size } = readDocument({ root, path, maxBytes })
  const problem = isCut ? { problem: `only the first ${maxBytes} of its ${size} bytes are indexed` } : {}
  if (html.has(extname(path).toLowerCase())) {
    const { title, lines } = htmlLines(text)
    return { title, pages: [{ page: 0, lines }], ...problem }
  }
  return { pages: [{ page: 0, lines: numbered(text.split("\n")) }], ...problem }
}

/** The same for a PDF file. Undefined without the package that reads it. */
export async function readPdf(
  root: string,
  path: string,
  { reader, signal }: { reader: PdfReader; signal: AbortSignal | undefined },
): Promise<Content | undefined> {
  const { bytes, isCut, size } = readBytes({ root, path, maxBytes: maxPdfBytes })
  if (isCut) throw new Unreadable(path, `it has ${size} bytes, more than ${maxPdfBytes}`)
  const answer = await reader.read(bytes, signal)
  if (!answer) return undefined
  if ("problem" in answer) throw new Unreadable(path, answer.problem)
  const { pages, total } = answer
  const content = { pages: pages.map((lines, i) => ({ page: i + 1, lines: numbered(lines) })) }
  if (pages.length < total)
    return { ...content, problem: `only the first ${pages.length} of its ${total} pages are indexed` }
  const isEmpty = pages.every((lines) => lines.every((line) => !line))
  return isEmpty ? { ...content, problem: "it has no text; pictures of pages are not read" } : content
}

function numbered(lines: readonly string[]): Line[] {
  return lines.map((text, i) => ({ text, number: i + 1 }))
}
