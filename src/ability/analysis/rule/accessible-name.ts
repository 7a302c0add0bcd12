import {
  attributeOf,
  closest,
  type Document,
  type Element,
  isElement,
  nodesIn,
} from "#ability/analysis/parse/html.ts"

/**
 * The accessible name of an element, as far as the markup tells: from aria-labelledby, aria-label, a label, its content, alt,
 * title or value. `fromContent`: whether its text names it, as that of a button does.
 */
export function nameFor(element: Element, document: Document, fromContent = true): string {
  const labelledBy = attributeOf(element, "aria-labelledby")?.split(/\s+/) ?? []
  const named = labelledBy.map((id) => document.ids.get(id)).flatMap((one) => (one ? contentOf(one) : []))
  const found =
    named.join(" ").trim() ||
    attributeOf(element, "aria-label")?.trim() ||
    labelsOf(element, document).trim() ||
    nativeNameOf(element) ||
    (fromContent && namedByContent(element) ? contentOf(element).trim() : "") ||
    attributeOf(element, "title")?.trim() ||
    attributeOf(element, "placeholder")?.trim()
  return found || ""
}

function labelsOf(element: Element, document: Document): string {
  if (!/^(input|select|textarea|button|meter|output|progress)$/.test(element.name)) return ""
  const around = closest(element, ({ name }) => name === "label")
  const id = attributeOf(element, "id")
  const labels = id ? labelsById(document).get(id) : undefined
  return [...(around ? [around] : []), ...(labels ?? [])].map((label) => contentOf(label, element)).join(" ")
}

const labels = new WeakMap<Document, Map<string, Element[]>>()

function labelsById(document: Document): Map<string, Element[]> {
  let found = labels.get(document)
  if (!found) {
    const all = document.elements.filter((one) => one.name === "label" && attributeOf(one, "for"))
    found = Map.groupBy(all, (one) => attributeOf(one, "for")!)
    labels.set(document, found)
  }
  return found
}

function nativeNameOf(element: Element): string | undefined {
  const { name } = element
  const type = attributeOf(element, "type")?.toLowerCase()
  if (name === "img" || name === "area" || (name === "input" && type === "image"))
    return attributeOf(element, "alt")?.trim()
  if (name !== "input")
    return name === "fieldset" || name === "figure" ? contentOf(element).trim() : undefined
  if (type === "submit" || type === "reset") return attributeOf(element, "value")?.trim() ?? type
  return type === "button" ? attributeOf(element, "value")?.trim() : undefined
}

function namedByContent({ name }: Element): boolean {
  return !/^(input|select|textarea|img|iframe)$/.test(name)
}

/** The text of an element and the names of its images, except `left`. */
function contentOf(element: Element, left?: Element): string {
  let text = ""
  const leaves = (one: Element) => one === left || attributeOf(one, "aria-hidden") === "true"
  for (const node of nodesIn(element, leaves)) {
    if (!isElement(node)) text += node.text
    else {
      text += ` ${attributeOf(node, "aria-label") ?? (node.name === "img" ? attributeOf(node, "alt") : undefined) ?? ""} `
      // A component may have any content.
      if (node.name.includes("-") || node.name === "slot") text += node.name
    }
    if (text.length > 1_000) break
  }
  return text.replace(/&nbsp;|\s+/g, " ")
}
