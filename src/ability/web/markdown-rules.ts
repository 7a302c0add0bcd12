// Turndown rules for elements that Turndown itself converts with losses: code with its language, tables, links around
// blocks. Text is not escaped, because models read it as it is, and a search would not find `snake\_case`.
import type TurndownService from "turndown"

/** As much of a DOM element as is used here. */
export type Element = {
  nodeName: string
  textContent: string
  className: string
  parentNode: Element | null
  children: ArrayLike<Element>
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): Iterable<Element>
  closest(selector: string): Element | null
}

const blocks = "table,pre,ul,ol,blockquote,h1,h2,h3,h4,h5,h6,hr"

export function addRules(service: TurndownService): void {
  const isData = createTableTest()
  const inData = (name: string) => (node: Element) => node.nodeName === name && isData(node.closest("table"))
  service.escape = (text) => text
  service.addRule("code", { filter: "pre", replacement: (_, node) => fenced(node) })
  service.addRule("link", { filter: "a", replacement: (content, node) => link(content, node) })
  service.addRule("item", { filter: "li", replacement: (content, node) => item(content, node) })
  service.addRule("heading cell", { filter: inData("TH"), replacement: cell })
  service.addRule("cell", { filter: inData("TD"), replacement: cell })
  service.addRule("row", { filter: inData("TR"), replacement: (content, node) => row(content, node) })
  service.addRule("table", {
    filter: (node) => node.nodeName === "TABLE" && isData(node),
    replacement: (content) => `\n\n${content.replace(/\n\s*\n/g, "\n").trim()}\n\n`,
  })
}

/** A fence longer than any in the code. */
function fenced(pre: Element): string {
  const code = pre.textContent.replace(/^\n/, "").trimEnd()
  const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length + 1)))
  return code.trim() ? `\n\n${fence}${language(pre)}\n${code}\n${fence}\n\n` : ""
}

function language(pre: Element): string {
  const places = [pre.querySelector("code"), pre, pre.parentNode, pre.parentNode?.parentNode]
  for (const place of places) {
    const found = /\b(?:language|lang|highlight(?:-source)?)-([\w+#-]{1,20})/.exec(
      place?.getAttribute?.("class") ?? "",
    )
    if (found) return found[1]!
  }
  return ""
}

function link(content: string, node: Element): string {
  const text = content.replace(/\s*\n\s*/g, " ").trim()
  const href = node.getAttribute("href")
  return text && href
    ? `[${text}](${href.replace(/[()]/g, (char) => (char === "(" ? "%28" : "%29"))})`
    : content
}

function item(content: string, node: Element): string {
  const list = node.parentNode
  const start = Number(list?.getAttribute("start") ?? 1)
  const mark = list?.nodeName === "OL" ? `${start + Array.from(list.children).indexOf(node)}. ` : "- "
  const indent = " ".repeat(mark.length)
  return `${mark}${content.trim().replace(/\n(?=[^\n])/g, `\n${indent}`)}\n`
}

function cell(content: string): string {
  return ` ${content
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|")
    .trim()} |`
}

function row(content: string, node: Element): string {
  const isFirst = node.closest("table")?.querySelector("tr") === node
  return `\n|${content}${isFirst ? `\n|${" --- |".repeat(node.children.length)}` : ""}\n`
}

/** Distinguishes tables of data from tables for layout. Each table is checked once. */
function createTableTest(): (table: Element | null) => boolean {
  const known = new WeakMap<Element, boolean>()
  return (table) => {
    if (!table) return false
    const answer =
      known.get(table) ??
      ((table.querySelector("tr")?.children.length ?? 0) > 1 && !table.querySelector(blocks))
    known.set(table, answer)
    return answer
  }
}
