// Markdown of models and people. Each block of the text becomes an element of its own: blocks of a growing answer are parsed
// once, and only the last one is parsed again with each piece that comes.
import { Lexer, type Token } from "marked"
import { useMemo, useRef } from "preact/hooks"
import { visible } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { blockViews, type Headings } from "./markdown-view.ts"

/** The elements of finished blocks. The same element again costs nothing. */
type Done = { text: string; views: unknown[]; headings: Headings }

/** Text above this size is shown as it is: its Markdown would take the page too long. */
const maxLength = 200_000
/** A block that grows beyond this size is shown as text until it is complete. */
const maxTail = 20_000
/** Quotes and lists inside each other. */
const deep = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){100}|^[ \t]{120,}(?:[-*+]|\d{1,9}[.)])[ \t]/
const longWord = /\S{100,}/g
const fence = /^[ \t]{0,3}(`{3,}|~{3,})/
/** Sum of the squares of long words: the parser's time grows with it. */
const maxWork = 10_000_000

export function Markdown({ text }: { text: string }) {
  return useMemo(() => {
    const tokens = text.length > maxLength ? undefined : tokensOf(visible(text))
    if (!tokens) return html`<pre class="plain">${text}</pre>`
    return html`<div class="markdown">${blockViews(tokens, [])}</div>`
  }, [text])
}

/** Of an answer that grows. */
export function GrowingMarkdown({ text }: { text: string }) {
  const done = useRef<Done>({ text: "", views: [], headings: [] })
  // Line ends as the parser makes them, so that the text of its tokens is a part of this one.
  const shown = visible(text.replace(/\r\n?/g, "\n"))
  if (!shown.startsWith(done.current.text)) done.current = { text: "", views: [], headings: [] }
  const rest = shown.slice(done.current.text.length)
  const tokens = (rest.length > maxTail ? undefined : tokensOf(rest)) ?? []
  // A list or a paragraph may go on in the next piece; what stands before it cannot change any more.
  const last = Math.max(
    0,
    tokens.findLastIndex(({ type }) => type !== "space"),
  )
  const finished = tokens.slice(0, last)
  if (finished.length) {
    const { headings, views, text } = done.current
    done.current.views = [...views, ...blockViews(finished, headings, text.length)]
    done.current.text += finished.map(({ raw }) => raw).join("")
  }
  const tail = tokens.length
    ? blockViews(tokens.slice(last), [...done.current.headings], done.current.text.length)
    : rest
      ? [html`<pre class="plain">${rest}</pre>`]
      : []
  return html`<div class="markdown">${[...done.current.views, ...tail]}</div>`
}

/** A text that the parser cannot read, or not in time, is shown as it is. */
function tokensOf(text: string): Token[] | undefined {
  if (isHeavy(text)) return undefined
  try {
    return Lexer.lex(text, { gfm: true })
  } catch {
    return undefined
  }
}

/** Markdown that would take the parser seconds, or more stack than there is: quotes and lists of a hundred levels, and words of
 * thousands of characters. A model, a file or a tool can write it. */
function isHeavy(text: string): boolean {
  let work = 0
  let open = ""
  for (const line of text.split("\n")) {
    const mark = fence.exec(line)?.[1] ?? ""
    if (open) {
      if (mark.startsWith(open)) open = ""
      continue
    }
    // Code may have long lines: the parser does not look into it.
    if (mark) open = mark
    if (deep.test(line)) return true
    for (const [word] of line.matchAll(longWord)) work += word.length ** 2
    if (work > maxWork) return true
  }
  return false
}
