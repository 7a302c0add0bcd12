// The accessibility rules that markup alone can show. The browser tier checks the rest, such as contrast.

import {
  attributeOf,
  closest,
  type Document,
  type Element,
  hole,
  isElement,
  nodesIn,
  textOf,
} from "#ability/analysis/parse/html.ts"
import type { Report } from "#ability/analysis/term/finding.ts"
import { nearest } from "#util/nearest.ts"
import { nameFor } from "./accessible-name.ts"
import { attributes, controlRoles, roles } from "./aria.ts"

/** `isInner`: whether an offset is inside an expression, so that the element may be there several times or not at all. */
type Place = {
  document: Document
  isInner: (at: number) => boolean
  hasId: (id: string) => boolean
  report: Report
}

const references = ["aria-labelledby", "aria-describedby", "aria-owns", "aria-details", "aria-errormessage"]

export function checkAccessibility(place: Place): void {
  const { document, report } = place
  const hidden = hiddenIn(document)
  for (const element of document.elements) {
    if (hidden.has(element)) continue
    checkName(element, place)
    checkAria(element, place)
    checkInteraction(element, report)
    checkFrame(element, report)
  }
  checkHeadings(place, hidden)
  checkIds(place)
  if (document.isPage) checkPage(document, report)
}

function checkName(element: Element, { document, report }: Place): void {
  const { name, at } = element
  if (element.isOpenEnded) return
  const role = attributeOf(element, "role")
  const isDecoration = role === "presentation" || role === "none"
  if (
    name === "img" ||
    (name === "input" && attributeOf(element, "type") === "image") ||
    (name === "area" && attributeOf(element, "href"))
  ) {
    const isNamed = element.attributes.has("alt") || nameFor(element, document) !== ""
    if (!isNamed && !isDecoration)
      report("a11y/image-alt", at, `The image <${name}> has no alternative text.`)
  } else if (name === "svg") {
    const isNamed =
      nameFor(element, document, false) !== "" ||
      element.children.some((child) => "name" in child && child.name === "title")
    if (role === "img" && !isNamed) report("a11y/image-alt", at, "The image <svg> has no alternative text.")
  } else if (isControl(element) && nameFor(element, document) === "")
    report("a11y/control-name", at, `The control <${name}> has no name.`)
  if (name === "iframe" && nameFor(element, document) === "")
    report("a11y/frame-title", at, "The frame has no title.")
}

function checkAria(element: Element, { report, hasId }: Place): void {
  for (const { name, value, at } of element.attributes.values()) {
    if (name === "role" && !value.includes(hole))
      for (const role of value.toLowerCase().split(/\s+/).filter(Boolean))
        if (!roles.has(role) && !/^(doc|graphics)-/.test(role))
          report("a11y/role", at, `There is no role ${role}.`, near(role, roles))
    if (name.startsWith("aria-") && !attributes.has(name))
      report("a11y/aria-attribute", at, `There is no attribute ${name}.`, near(name, attributes))
    if (references.includes(name) && !value.includes(hole))
      for (const id of value.split(/\s+/).filter(Boolean))
        if (!hasId(id)) report("a11y/reference", at, `${name} refers to ${id}, which is not there.`)
  }
}

function checkInteraction(element: Element, report: Report): void {
  const { name, at } = element
  const tabindex = element.attributes.get("tabindex")
  if (tabindex && Number(tabindex.value) > 0)
    report("a11y/tabindex", tabindex.at, `tabindex ${tabindex.value} changes the order of the keyboard.`)
  const click = element.attributes.get("onclick") ?? element.attributes.get("@click")
  const role = attributeOf(element, "role") ?? ""
  const takesKeys = controlRoles.has(role) && tabindex !== undefined
  const isOther =
    !isControl(element) && !/^(label|form|summary|body|html|dialog|option)$/.test(name) && !name.includes("-")
  // An element around controls may listen for their events.
  const isAround = isOther && hasControl(element)
  if (click && isOther && !isAround && !takesKeys && !element.isOpenEnded)
    report("a11y/click-target", at, `<${name}> takes clicks, but no keys.`)
  const around = isControl(element)
    ? closest(element, (one) => /^(button|a)$/.test(one.name) && isControl(one))
    : undefined
  if (around)
    report("a11y/nested-control", at, `The control <${name}> is inside the control <${around.name}>.`)
}

function checkFrame(element: Element, report: Report): void {
  if (element.name !== "meta" || attributeOf(element, "name")?.toLowerCase() !== "viewport") return
  const content = attributeOf(element, "content") ?? ""
  const [, scale] = /maximum-scale\s*=\s*([\d.]+)/.exec(content) ?? []
  if (/user-scalable\s*=\s*(no|0)/.test(content) || (scale !== undefined && Number(scale) < 2))
    report("a11y/zoom", element.at, "The page keeps people from zooming.")
}

function checkHeadings({ document, report, isInner }: Place, hidden: ReadonlySet<Element>): void {
  let last = 0
  for (const element of document.elements) {
    const level = /^h([1-6])$/.exec(element.name)?.[1]
    if (!level || hidden.has(element)) continue
    const now = Number(level)
    // A fragment may start at any level.
    const isSkip = last === 0 ? document.isPage && now > 2 : now > last + 1
    if (isSkip && !isInner(element.at))
      report("a11y/heading-order", element.at, `h${now} follows ${last ? `h${last}` : "no heading"}.`)
    last = now
  }
}

function checkIds({ document, report, isInner }: Place): void {
  for (const element of document.elements) {
    const id = element.attributes.get("id")
    if (!id || id.value.includes(hole) || isInner(element.at)) continue
    const first = document.ids.get(id.value)
    if (first && first !== element && !isInner(first.at))
      report("a11y/duplicate-id", id.at, `Two elements have the id ${id.value}.`)
  }
}

function checkPage(document: Document, report: Report): void {
  const html = document.elements.find(({ name }) => name === "html")
  const lang = html && attributeOf(html, "lang")
  if (!html?.isOpenEnded && !lang?.trim())
    report("a11y/lang", html?.at ?? 0, "The page does not say its language.")
  else if (html && lang && !lang.includes(hole) && !/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(lang.trim()))
    report("a11y/lang", html.at, `There is no language ${lang}.`)
  const title = document.elements.find(({ name, parent }) => name === "title" && parent?.name !== "svg")
  if (!title || !textOf(title).trim())
    report("a11y/title", title?.at ?? html?.at ?? 0, "The page has no title.")
}

function isControl(element: Element): boolean {
  const { name } = element
  if (name === "button" || name === "select" || name === "textarea") return true
  if (name === "input") return attributeOf(element, "type")?.toLowerCase() !== "hidden"
  if (name === "a") return element.attributes.has("href")
  return controlRoles.has(attributeOf(element, "role") ?? "")
}

function hasControl(element: Element): boolean {
  for (const node of nodesIn(element))
    if (node !== element && isElement(node) && (isControl(node) || node.name.includes("-"))) return true
  return false
}

/** Elements that assistive technology does not see. */
function hiddenIn(document: Document): ReadonlySet<Element> {
  const hidden = new Set<Element>()
  for (const element of document.elements) {
    const isHidden =
      hidden.has(element.parent!) ||
      attributeOf(element, "aria-hidden") === "true" ||
      element.attributes.has("hidden") ||
      element.name === "template"
    if (isHidden) hidden.add(element)
  }
  return hidden
}

function near(word: string, all: ReadonlySet<string>): string | undefined {
  const found = nearest(word, all)
  return found && `Did you mean ${found}?`
}
