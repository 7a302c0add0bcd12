// Reads a document as lines with numbers: Markdown and text as they are, HTML without its tags.
import { extname } from "node:path"
import { readDocument } from "#knowledge/index/read-document.ts"
import type { Line } from "#knowledge/rules/chunk-markdown.ts"
import { htmlLines } from "./html-lines.ts"
import type { Unit } from "./passage-store.ts"

/** `unit`: what the numbers count. `problem`: why a part of it is missing. */
export type Content = { title?: string; lines: Line[]; unit: Unit; problem?: string }

/** Bytes of a document that are read. */
const maxBytes = 4 << 20
const html = new Set([".html", ".htm", ".xhtml"])
const plain = new Set([".md", ".markdown", ".mdx", ".txt", ".text", ".rst", ".adoc", ".org"])

/** Whether the file can be a document, by its name. */
export function isDocument(file: string): boolean {
  const end = extname(file).toLowerCase()
  return plain.has(end) || html.has(end)
}

/** `folder` is a real path; no link leads out of it. Throws `Document.Unreadable`. */
export async function readContent(folder: string, path: string): Promise<Content> {
  const { text, isCut, size } = readDocument({ root: folder, path, maxBytes })
  const problem = isCut ? { problem: `only the first ${maxBytes} of its ${size} bytes are indexed` } : {}
  if (html.has(extname(path).toLowerCase())) return { ...htmlLines(text), unit: "line", ...problem }
  const lines = text.split("\n").map((line, i) => ({ text: line, number: i + 1 }))
  return { lines, unit: "line", ...problem }
}
