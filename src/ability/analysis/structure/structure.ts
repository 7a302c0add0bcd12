// Describes one document in the structural vocabulary: its objects, channels, levers, loops and blocks.
import {
  attributeOf,
  closest,
  type Document,
  type Element,
  hole,
  isElement,
  textOf,
} from "#ability/analysis/parse/html.ts"
import { isHandler } from "#ability/analysis/parse/is-handler.ts"
import type { PageFacts } from "#ability/analysis/parse/page-facts.ts"
import { nameFor } from "#ability/analysis/rule/accessible-name.ts"
import {
  type Block,
  type Channel,
  emptyStructure,
  type Lever,
  type StructuralObject,
  type Structure,
} from "#ability/analysis/term/vocabulary.ts"
import { createLoops } from "./loops.ts"

/** `component`: the function that returns the markup. */
export type Template = { document: Document; component: string; at: number; facts: PageFacts; source: string }

const landmarks: Record<string, string> = {
  header: "banner",
  nav: "navigation",
  main: "main",
  aside: "complementary",
  footer: "contentinfo",
  search: "search",
}
const landmarkRoles = new Set([...Object.values(landmarks), "form", "region"])
const sectionNames = new Set(["section", "article", "fieldset", "dialog", "details", "figure"])
const objectNames: Record<string, StructuralObject["kind"]> = {
  p: "text",
  blockquote: "text",
  pre: "text",
  figcaption: "text",
  dd: "text",
  li: "text",
  td: "value",
  output: "value",
  meter: "value",
  progress: "value",
  time: "value",
  data: "value",
  img: "image",
  picture: "image",
  svg: "image",
  canvas: "image",
  video: "media",
  audio: "media",
  ul: "list",
  ol: "list",
  dl: "list",
  menu: "list",
  table: "table",
}
const choices = new Set([
  "radio",
  "checkbox",
  "color",
  "date",
  "month",
  "week",
  "time",
  "datetime-local",
  "file",
])
const references = ["aria-controls", "popovertarget", "commandfor", "for", "form", "list"]

export function structureOf(template: Template): Structure {
  const { document, component, at } = template
  const structure = emptyStructure()
  if (component)
    structure.blocks.push({ at, name: component, kind: "component", role: component, isNamed: true })
  const beside = countBeside(document)
  const loopOf = createLoops(template)
  for (const element of document.elements) {
    const object = objectOf(element, beside)
    if (object) structure.objects.push(object)
    structure.channels.push(...channelsOf(element))
    const lever = leverOf(element, document)
    if (lever) {
      structure.levers.push(lever)
      const loop = loopOf(element, lever)
      if (loop) structure.loops.push(loop)
    }
    const block = blockOf(element, document)
    if (block) structure.blocks.push(block)
  }
  return structure
}

function objectOf(element: Element, beside: Beside): StructuralObject | undefined {
  const { name, at } = element
  const kind = /^h[1-6]$/.test(name) ? "heading" : objectNames[name]
  if (!kind) return undefined
  const text = textOf(element).trim()
  const needsContent = kind === "heading" || kind === "text" || kind === "list" || kind === "table"
  const isEmpty = needsContent && !text && !element.children.some(isElement) && !element.isOpenEnded
  return { at, name: shortOf(text) || `<${name}>`, kind, grouping: groupingOf(element, beside), isEmpty }
}

function groupingOf({ parent, name }: Element, beside: Beside): StructuralObject["grouping"] {
  const around = parent?.name ?? ""
  if (around === "ol") return "steps"
  if (/^(ul|menu|dl|tr)$/.test(around)) return "list"
  if ((beside.get(parent)?.get(name) ?? 0) > 1) return "relational"
  return /^(li|section|article|figure|td|details)$/.test(around) ? "nested" : "single"
}

/** How many children of each name an element has. */
type Beside = Map<Element | undefined, Map<string, number>>

function countBeside({ elements }: Document): Beside {
  const counts: Beside = new Map()
  for (const { parent, name } of elements) {
    const own = counts.get(parent) ?? new Map<string, number>()
    counts.set(parent, own.set(name, (own.get(name) ?? 0) + 1))
  }
  return counts
}

function channelsOf(element: Element): Channel[] {
  const { name, at, attributes } = element
  const found: Channel[] = []
  const label = shortOf(textOf(element).trim()) || `<${name}>`
  if ((name === "a" || name === "area") && !element.isOpenEnded) {
    const target = attributeOf(element, "href")?.trim()
    const isTarget = attributeOf(element, "id") !== undefined || attributeOf(element, "name") !== undefined
    if (target !== undefined || !isTarget)
      found.push({ at, name: label, kind: "link", target: leadsNowhere(target) ? undefined : target })
  }
  if (name === "form") {
    const handler = [...attributes.keys()].find(isHandler)
    found.push({
      at,
      name: label,
      kind: "form",
      target: attributeOf(element, "action") ?? handler ?? "this page",
    })
  }
  for (const attribute of attributes.values())
    if (isHandler(attribute.name))
      found.push({ at: attribute.at, name: label, kind: "event", target: attribute.name })
  if (/^(iframe|embed|object|video|audio|source|track)$/.test(name)) {
    const target =
      attributeOf(element, "src") ?? attributeOf(element, "data") ?? attributeOf(element, "srcdoc")
    if (target !== undefined) found.push({ at, name: label, kind: "embed", target })
  }
  for (const key of references) {
    const attribute = attributes.get(key)
    if (attribute?.value)
      found.push({ at: attribute.at, name: label, kind: "reference", target: `#${attribute.value}` })
  }
  return found.map((channel) => ({ ...channel, target: channel.target && shownOf(channel.target) }))
}

/** A link that runs a script or leads to the top of the page is no link. */
function leadsNowhere(target: string | undefined): boolean {
  return !target || target === "#" || /^javascript:/i.test(target)
}

function leverOf(element: Element, document: Document): Lever | undefined {
  const kind = leverKindOf(element)
  if (!kind) return undefined
  const isLimited = ["required", "pattern", "maxlength", "min", "max", "disabled", "readonly"].some((name) =>
    element.attributes.has(name),
  )
  const isConstraint = kind === "choice" || kind === "toggle" || kind === "range" || isLimited
  const name = shortOf(nameFor(element, document)) || `<${element.name}>`
  return { at: element.at, name, kind, effect: isConstraint ? "constraint" : "incentive" }
}

function leverKindOf(element: Element): Lever["kind"] | undefined {
  const { name } = element
  const role = attributeOf(element, "role")
  const type = attributeOf(element, "type")?.toLowerCase() ?? "text"
  if (role === "switch" || attributeOf(element, "aria-pressed") !== undefined) return "toggle"
  if (name === "button" || role === "button") return "button"
  if (name === "summary") return "disclosure"
  if (name === "select" || /^(radio|option|menuitemradio|combobox|listbox)$/.test(role ?? "")) return "choice"
  if (name === "textarea" || role === "textbox" || role === "searchbox") return "text"
  if (role === "slider" || role === "spinbutton") return "range"
  if (role === "checkbox" || role === "menuitemcheckbox") return "toggle"
  if (name !== "input" || type === "hidden") return undefined
  if (/^(button|submit|reset|image)$/.test(type)) return "button"
  if (type === "checkbox") return "toggle"
  if (type === "range" || type === "number") return "range"
  return choices.has(type) ? "choice" : "text"
}

function blockOf(element: Element, document: Document): Block | undefined {
  const { name, at } = element
  const given = attributeOf(element, "role")
  const role = given || (isScoped(element) ? "" : landmarks[name]) || ""
  const isLandmark = landmarkRoles.has(role)
  const isComponent = name.includes("-") || name.startsWith(hole)
  if (!isLandmark && !isComponent && !sectionNames.has(name) && role !== "feed") return undefined
  const label = nameFor(element, document, false)
  const pattern = patternOf(element)
  return {
    at,
    name: shortOf(label) || `<${name.startsWith(hole) ? "component" : name}>`,
    kind: isLandmark ? "landmark" : isComponent ? "component" : "section",
    role: role || name,
    isNamed: label !== "" || element.isOpenEnded,
    ...(pattern ? { pattern } : {}),
  }
}

/** The header or footer of a section is no landmark. */
function isScoped(element: Element): boolean {
  const isSection = (around: Element) => /^(article|aside|main|nav|section)$/.test(around.name)
  return /^(header|footer)$/.test(element.name) && closest(element, isSection) !== undefined
}

function patternOf(element: Element): Block["pattern"] {
  const inner = element.children.filter(isElement)
  const articles = inner.filter(({ name }) => name === "article")
  const hasStream = attributeOf(element, "role") === "feed" || articles.length > 1
  if (element.name === "article" && (articles.length || element.parent?.name === "article")) return "thread"
  if (hasStream) return inner.some(({ name }) => name === "header" || name === "aside") ? "wall" : "stream"
  const hasHeading = inner.some(({ name }) => /^h[1-6]$/.test(name))
  return hasHeading && inner.some(({ name }) => /^(ul|ol|dl|menu|table)$/.test(name)) ? "pool" : undefined
}

function shortOf(text: string): string {
  const line = shownOf(text).replace(/\s+/g, " ").trim()
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/** Expressions become an ellipsis. */
function shownOf(text: string): string {
  return text.replaceAll(hole, "…").replace(/…[…\s]*…/g, "…")
}
