// Parses markup to elements with offsets. The tokens come from htmlparser2; the tree is built here, because the analysis
// needs the tags that a browser repairs silently. It accepts every input.
import { Tokenizer } from "htmlparser2"
import type { Report } from "#ability/analysis/term/finding.ts"
import { nearest } from "#util/nearest.ts"
import { closedBy, elements, hasOptionalEnd, isVoid } from "./html-elements.ts"

type Attribute = { name: string; value: string; at: number; valueAt: number }
export type Text = { text: string; at: number }
export type Element = {
  name: string
  at: number
  parent: Element | undefined
  attributes: Map<string, Attribute>
  children: (Element | Text)[]
  /** Attributes are spread into it, so it may have any. */
  isOpenEnded: boolean
}
/** All elements in the order of the file. `isPage`: with html, head and body, not a fragment of a page. */
export type Document = { elements: Element[]; ids: Map<string, Element>; isPage: boolean; root: Element }

/** Stands for each character of an expression in a template. */
export const hole = "\uE000"
/** As browsers do. */
const maxDepth = 512
/** The text of an element is read up to these limits, which are enough for a name or a sentence. */
const maxText = 1_000
const maxNodes = 2_000
const maxUnknown = 20
const noAttributes: ReadonlyMap<string, Attribute> = new Map()

/** `base`: the offset of the markup in its file. */
export function parseHtml(markup: string, base: number, report: Report): Document {
  const root = makeElement("#document", base, undefined)
  const all: Element[] = []
  const ids = new Map<string, Element>()
  const open: Element[] = [root]
  let isPage = /^[\s\uFEFF]*(?:<!--.{0,2000}?-->\s*)*<(?:!doctype|html)[\s>]/is.test(markup.slice(0, 5_000))
  let tag: Element | undefined
  let attribute: Attribute | undefined
  const unknown = new Set<string>()
  /** Elements deeper than `maxDepth`, which are not on the stack. */
  let deeper = 0

  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(start, end) {
        const name = markup.slice(start, end).toLowerCase()
        closeImplied(name)
        tag = makeElement(name, base + start - 1, open.at(-1)!)
        if (name === "html") isPage = true
        if (
          !elements.has(name) &&
          !/[-:]|\uE000/.test(name) &&
          !isForeign(tag) &&
          unknown.size < maxUnknown
        ) {
          if (unknown.has(name)) return
          unknown.add(name)
          const near = nearest(name, elements)
          report(
            "html/unknown-element",
            tag.at,
            `There is no element <${name}>.`,
            near && `Did you mean <${near}>?`,
          )
        }
      },
      onattribname(start, end) {
        const name = markup.slice(start, end).toLowerCase()
        attribute = { name, value: "", at: base + start, valueAt: base + end }
      },
      onattribdata(start, end) {
        if (!attribute) return
        if (!attribute.value) attribute.valueAt = base + start
        attribute.value += markup.slice(start, end)
      },
      onattribentity() {},
      onattribend() {
        if (tag && attribute) addAttribute(tag, attribute)
        attribute = undefined
      },
      onopentagend: () => endTag(false),
      onselfclosingtag: () => endTag(true),
      onclosetag(start, end) {
        close(markup.slice(start, end).toLowerCase(), base + start - 2)
      },
      ontext(start, end) {
        const { children } = open.at(-1)!
        const last = children.at(-1)
        if (last && "text" in last) last.text += markup.slice(start, end)
        else children.push({ text: markup.slice(start, end), at: base + start })
      },
      ontextentity() {},
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      oncdata() {},
      onend() {},
    },
  )
  tokenizer.write(markup)
  tokenizer.end()
  if (tag) report("html/cut", tag.at, `The file ends inside the tag <${tag.name}>.`)
  for (const element of open.slice(1)) unclosed(element)
  return { elements: all, ids, isPage, root }

  function addAttribute(to: Element, { name, ...rest }: Attribute): void {
    if (name.includes(hole)) to.isOpenEnded = true
    else if (to.attributes.has(name))
      report("html/duplicate-attribute", rest.at, `The attribute ${name} is there twice.`)
    else {
      if (to.attributes === noAttributes) to.attributes = new Map()
      to.attributes.set(name, { name, ...rest })
    }
  }

  function endTag(isSelfClosing: boolean): void {
    if (!tag) return
    const element = tag
    tag = undefined
    element.parent!.children.push(element)
    all.push(element)
    const id = element.attributes.get("id")?.value
    if (id && !ids.has(id)) ids.set(id, element)
    if (isVoid(element.name)) return
    if (isSelfClosing && (isForeign(element) || element.name.startsWith(hole))) return
    if (isSelfClosing)
      report("html/self-closing", element.at, `<${element.name}/> does not close the element.`)
    else if (open.length <= maxDepth) open.push(element)
    else if (deeper++ === 0)
      report("html/too-deep", element.at, `The element <${element.name}> is nested deeper than ${maxDepth}.`)
  }

  function close(name: string, at: number): void {
    if (deeper > 0) return void deeper--
    if (isVoid(name)) return
    const index = open.findLastIndex((element) => element.name === name)
    if (index < 1) {
      if (!name.startsWith(hole)) report("html/stray-end", at, `</${name}> closes nothing.`)
      return
    }
    for (const element of open.splice(index).slice(1)) unclosed(element)
  }

  function closeImplied(name: string): void {
    if (deeper === 0) while (open.length > 1 && closedBy(open.at(-1)!.name, name)) open.pop()
  }

  function unclosed({ name, at }: Element): void {
    if (!hasOptionalEnd(name) && !name.startsWith(hole))
      report("html/unclosed", at, `The element <${name}> is not closed.`)
  }
}

/** The value of an attribute. An attribute without a value has "". */
export function attributeOf(element: Element, name: string): string | undefined {
  return element.attributes.get(name)?.value
}

export function isElement(node: Element | Text): node is Element {
  return "name" in node
}

/** The text of an element, without scripts and styles, and at most about `maxText` characters of it. */
export function textOf(element: Element): string {
  let text = ""
  for (const node of nodesIn(element)) {
    if (!isElement(node)) text += `${node.text.slice(0, maxText)} `
    if (text.length > maxText) break
  }
  return text
}

/** An element and what is in it, without scripts, styles and what `leaves` returns true for; at most `maxNodes`. */
export function* nodesIn(
  element: Element,
  leaves?: (element: Element) => boolean,
): Generator<Element | Text> {
  const waiting: (Element | Text)[] = [element]
  let seen = 0
  for (let next = waiting.pop(); next && seen < maxNodes; next = waiting.pop()) {
    seen++
    if (isElement(next)) {
      if (/^(script|style|template)$/.test(next.name) || leaves?.(next)) continue
      for (let i = Math.min(next.children.length, maxNodes) - 1; i >= 0; i--) waiting.push(next.children[i]!)
    }
    yield next
  }
}

/** The nearest element around it that the test accepts. */
export function closest(element: Element, test: (around: Element) => boolean): Element | undefined {
  for (let next = element.parent; next?.parent; next = next.parent) if (test(next)) return next
  return undefined
}

function isForeign(element: Element): boolean {
  const isRoot = ({ name }: Element) => name === "svg" || name === "math"
  return isRoot(element) || closest(element, isRoot) !== undefined
}

function makeElement(name: string, at: number, parent: Element | undefined): Element {
  return {
    name,
    at,
    parent,
    attributes: noAttributes as Map<string, Attribute>,
    children: [],
    isOpenEnded: false,
  }
}
