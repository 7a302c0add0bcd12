// Reads one file and everything in it that can be analyzed: documents, style sheets and scripts.
import { extname, relative } from "node:path"
import { createReporter } from "./create-reporter.ts"
import { parseCss, type Sheet } from "./parse/css.ts"
import { attributeOf, type Document, type Element, hole, isElement, parseHtml } from "./parse/html.ts"
import { parseScript, type Script } from "./parse/script.ts"
import { readText } from "./read-files.ts"
import type { Finding, Report } from "./term/finding.ts"

/** `inner`: parts of the document that are inside an expression. */
export type Markup = {
  document: Document
  at: number
  component: string
  inner: [from: number, to: number][]
}
export type Parsed = {
  /** The path from the root. */
  file: string
  path: string
  text: string
  kind: "html" | "css" | "script"
  markups: Markup[]
  sheets: Sheet[]
  scripts: Script[]
  /** Files whose code runs in the page, as the markup names them. */
  linked: { source: string; at: number }[]
  findings: Finding[]
  /** False for a script that was not parsed, since it has no markup. */
  isWhole: boolean
}

/** Cheaper than to parse every script of a project. */
const mayHaveTemplate = /[`"']\s*(?:\$\{[^}]*\}\s*)?<[a-z!]|\b(?:html|svg|css)`|["'`]--[\w-]+["'`]/i

/** Handlers that are read; a page with more has seldom written them by hand. */
const maxHandlers = 2_000

export function isStory(file: string): boolean {
  return /\.stories\.[cm]?[jt]sx?$/.test(file)
}

/** `isWhole`: parse scripts without markup, too. */
export function parseFile(options: {
  root: string
  path: string
  isWhole: boolean
  accepts: (file: string) => boolean
}): Parsed {
  const { root, path, isWhole, accepts } = options
  const file = relative(root, path)
  const extension = extname(path).toLowerCase()
  const kind = /^\.html?$/.test(extension) ? "html" : extension === ".css" ? "css" : "script"
  const parsed: Parsed = {
    file,
    path,
    text: "",
    kind,
    markups: [],
    sheets: [],
    scripts: [],
    linked: [],
    findings: [],
    isWhole: true,
  }
  const read = readText(root, file, accepts)
  parsed.text = "text" in read ? read.text : ""
  const { report, findings } = createReporter(file, parsed.text)
  parsed.findings = findings
  if (!("text" in read)) report(read.rule, 0, read.message)
  else if (kind === "html") addMarkup(parsed, { text: read.text, at: 0, component: "", inner: [] }, report)
  else if (kind === "css") parsed.sheets.push(parseCss(read.text, { base: 0, isInline: false }, report))
  else if (isWhole || isStory(file) || mayHaveTemplate.test(read.text))
    addScript(parsed, { text: read.text, at: 0, isJsx: extension.endsWith("x") }, report)
  else parsed.isWhole = false
  return parsed
}

function addScript(
  parsed: Parsed,
  { text, at, isJsx }: { text: string; at: number; isJsx: boolean },
  report: Report,
): void {
  const script = parseScript(text, { base: at, isJsx }, report)
  parsed.scripts.push(script)
  for (const region of script.regions)
    if (region.kind === "markup") addMarkup(parsed, region, report)
    else parsed.sheets.push(parseCss(region.text, { base: region.at, isInline: false }, report))
}

function addMarkup(
  parsed: Parsed,
  { text, at, component, inner }: { text: string; at: number; component: string; inner: [number, number][] },
  report: Report,
): void {
  const document = parseHtml(text, at, report)
  parsed.markups.push({ document, at, component, inner: merged(inner) })
  for (const element of document.elements) {
    if (element.name === "style") {
      const { content, at } = contentOf(element)
      parsed.sheets.push(parseCss(content, { base: at, isInline: false }, report))
    }
    if (element.name === "script") addInlineScript(parsed, element, report)
    for (const { name, value, at, valueAt } of element.attributes.values()) {
      if (name === "style") parsed.sheets.push(parseCss(value, { base: valueAt, isInline: true }, report))
      const isCode = /^on[a-z]/.test(name) && value.trim() !== "" && !value.includes(hole)
      if (isCode && parsed.scripts.length < maxHandlers)
        parsed.scripts.push(
          parseScript(value, { base: valueAt }, (rule, _, message) => report(rule, at, message)),
        )
    }
  }
}

function addInlineScript(parsed: Parsed, element: Element, report: Report): void {
  const type = attributeOf(element, "type")?.trim().toLowerCase() ?? ""
  if (!/^(|module|(text|application)\/(javascript|ecmascript|typescript))$/.test(type)) return
  const source = element.attributes.get("src")
  if (source) {
    if (!source.value.includes(hole)) parsed.linked.push({ source: source.value, at: source.at })
    return
  }
  const { content, at } = contentOf(element)
  if (content.includes(hole)) return
  const script = parseScript(content, { base: at }, report)
  // Markup in the code of a page is what the code writes, not a template of this file.
  parsed.scripts.push({ ...script, regions: [] })
}

function contentOf({ children, at }: Element): { content: string; at: number } {
  const [first] = children
  return first && !isElement(first) ? { content: first.text, at: first.at } : { content: "", at }
}

/** In order and without overlaps, so that a place is found by halving. */
function merged(ranges: [number, number][]): [number, number][] {
  const found: [number, number][] = []
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = found.at(-1)
    if (last && from <= last[1]) last[1] = Math.max(last[1], to)
    else found.push([from, to])
  }
  return found
}
