// Tokens of Markdown as elements. No HTML text is ever made: text becomes text nodes, only the elements below exist, and a
// link leads only to the web or to mail. HTML inside Markdown is shown as it was written.
import type { Token, Tokens } from "marked"
import { type ComponentChild, cloneElement, h, isValidElement } from "preact"
import { visible } from "#edge/web/base/format.ts"
import { CodeBlock } from "./code-block.ts"

/** Depths of the headings that the next one may stand below. Levels on the page have no gaps, and begin below the title. */
export type Headings = number[]

/** Deeper nesting is shown as its text. */
const maxDepth = 40
const protocols = new Set(["http:", "https:", "mailto:"])
const names: Record<string, string> = {
  ...{
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    hellip: "…",
    mdash: "—",
    ndash: "–",
  },
  ...{ lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»", bull: "•", middot: "·" },
  ...{
    rarr: "→",
    larr: "←",
    uarr: "↑",
    darr: "↓",
    harr: "↔",
    rArr: "⇒",
    times: "×",
    divide: "÷",
    minus: "−",
  },
  ...{ plusmn: "±", ne: "≠", le: "≤", ge: "≥", deg: "°", micro: "µ", copy: "©", reg: "®", trade: "™" },
  ...{ euro: "€", pound: "£", yen: "¥", cent: "¢", sect: "§", para: "¶", check: "✓", colon: ":" },
}

/** `offset`: where the tokens begin in their text. A block that grows keeps its element, because it keeps its place. */
export function blockViews(tokens: readonly Token[], headings: Headings, offset = 0): ComponentChild[] {
  let at = offset
  return tokens.flatMap((token) => {
    const key = at
    at += token.raw.length
    const [view] = viewsOf([token], headings)
    if (token.type === "space" || token.type === "def") return []
    return [isValidElement(view) ? cloneElement(view, { key }) : h("p", { key }, view)]
  })
}

function viewsOf(tokens: readonly Token[], headings: Headings, depth = 0): ComponentChild[] {
  if (depth > maxDepth) return [tokens.map(({ raw }) => raw).join("")]
  return tokens.map((token) => viewOf(token as Tokens.Generic, headings, depth + 1))
}

function viewOf(token: Tokens.Generic, headings: Headings, depth: number): ComponentChild {
  const inside = (tokens = token.tokens ?? []) => viewsOf(tokens, headings, depth)
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "code":
      return h(CodeBlock, { code: token.text, language: /^[\w+#.-]{1,30}/.exec(token.lang ?? "")?.[0] ?? "" })
    case "heading":
      return h(`h${levelOf(token.depth, headings)}`, null, inside())
    case "table":
      return tableOf(token as Tokens.Table, inside)
    case "list":
      return h(
        token.ordered ? "ol" : "ul",
        token.start === "" || token.start === 1 ? null : { start: token.start },
        inside(token.items),
      )
    case "checkbox":
      return [
        h("input", { type: "checkbox", checked: token.checked, disabled: true, "aria-label": "Done" }),
        " ",
      ]
    case "link":
    case "image":
      return linkOf(token, token.type === "link" ? inside() : textOf(token.text || token.href))
    case "codespan":
      return h("code", null, token.text)
    case "html":
      return /^<br\s*\/?>\s*$/i.test(token.raw)
        ? h("br", null)
        : h("span", { class: "as-written" }, token.raw)
    case "escape":
      return token.text
    case "text":
      return token.tokens ? inside() : textOf(token.text)
    case "br":
    case "hr":
      return h(token.type, null)
  }
  const element = elements[token.type]
  return element ? h(element, null, inside()) : token.raw
}

const elements: Record<string, string> = {
  paragraph: "p",
  blockquote: "blockquote",
  list_item: "li",
  strong: "strong",
  em: "em",
  del: "del",
}

function levelOf(depth: number, headings: Headings): number {
  while (headings.length && headings.at(-1)! >= depth) headings.pop()
  headings.push(depth)
  return Math.min(6, headings.length + 1)
}

/** A wide table scrolls in its own box. */
function tableOf({ header, rows }: Tokens.Table, inside: (tokens: Token[]) => ComponentChild[]) {
  const row = (cells: Tokens.TableCell[], element: "th" | "td") =>
    h(
      "tr",
      null,
      cells.map(({ tokens, align }) => h(element, align ? { class: `to-${align}` } : null, inside(tokens))),
    )
  return h(
    "div",
    { class: "table", tabIndex: 0, role: "group", "aria-label": "Table" },
    h("table", null, [
      h("thead", null, row(header, "th")),
      h(
        "tbody",
        null,
        rows.map((cells) => row(cells, "td")),
      ),
    ]),
  )
}

/** Its address is shown with it: what a link is called may lie. */
function linkOf({ href }: Tokens.Generic, children: ComponentChild) {
  const url = URL.parse(textOf(href))
  if (!url || !protocols.has(url.protocol)) return h("span", null, children)
  const address = { href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer" }
  return h("a", address, children)
}

/** With its character references, such as `&amp;`, read. */
function textOf(text: string): string {
  if (!text.includes("&")) return text
  const read = text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (all, decimal, hex, name) => {
    if (name) return Object.hasOwn(names, name) ? names[name]! : all
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code < 0x11_00_00 ? String.fromCodePoint(code) : all
  })
  return visible(read)
}
