// The text of an HTML file by the lines of the file, so that a passage can be found again in it. Headings become Markdown
// headings; scripts, styles and menus are left out.
import type { Line } from "#knowledge/rules/chunk-markdown.ts"
import { decodeEntities, inline, scanHtml } from "#util/parse/strip-tags.ts"

const skipped = new Set(["nav", "title"])
/** They separate words, not lines. */
const cells = new Set(["td", "th"])

export function htmlLines(html: string): { title: string; lines: Line[] } {
  const lines: Line[] = []
  let title = ""
  let skipping: string | undefined
  let depth = 0
  let number = 1
  let seen = 0
  /** The text since the last line was ended, and the line where it began. */
  let text = ""
  let first = 1
  let isHeading = false

  function moveTo(offset: number): void {
    for (let at = html.indexOf("\n", seen); at >= 0 && at < offset; at = html.indexOf("\n", at + 1)) number++
    seen = Math.max(seen, offset)
  }

  function end(): void {
    const plain = decodeEntities(text).replace(/\s+/g, " ").trim()
    if (plain && !/^(?:#+|-)$/.test(plain)) lines.push({ text: plain, number: first })
    text = ""
  }

  function add(more: string): void {
    if (!text.trim()) first = number
    text += more
  }

  function addText(given: string): void {
    for (const [i, part] of given.split("\n").entries()) {
      if (i > 0) {
        number++
        if (isHeading) text += " "
        else end()
      }
      add(part)
    }
    seen += given.length
  }

  for (const token of scanHtml(html)) {
    moveTo(token.at)
    if (token.kind === "text") {
      if (!skipping) addText(token.text)
      else if (skipping === "title" && !title) title = decodeEntities(token.text).replace(/\s+/g, " ").trim()
    } else if (skipping === token.name) {
      depth += token.kind === "open" ? 1 : -1
      if (depth === 0) skipping = undefined
    } else if (!skipping && token.kind === "open" && skipped.has(token.name)) {
      skipping = token.name
      depth = 1
    } else if (!skipping && cells.has(token.name)) add(" ")
    else if (!skipping && !inline.has(token.name)) endBlock(token.kind === "open", token.name)
  }
  end()
  return { title: title.slice(0, 300), lines }

  function endBlock(isOpen: boolean, name: string): void {
    end()
    const level = /^h([1-6])$/.exec(name)?.[1]
    isHeading = isOpen && level !== undefined
    if (lines.at(-1)?.text) lines.push({ text: "", number })
    if (isHeading) add(`${"#".repeat(Number(level))} `)
    else if (isOpen && name === "li") add("- ")
  }
}
