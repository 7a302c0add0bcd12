// Patterns of styling that are hard to override or that keep people from seeing the focus.

import type { Sheet } from "#ability/analysis/parse/css.ts"
import { type Document, hole } from "#ability/analysis/parse/html.ts"
import { obsolete } from "#ability/analysis/parse/html-elements.ts"
import type { Report } from "#ability/analysis/term/finding.ts"

const obsoleteAttributes = new Set([
  "bgcolor",
  "align",
  "valign",
  "cellpadding",
  "cellspacing",
  "border",
  "nowrap",
  "hspace",
  "vspace",
])

/** `sheets`: all of one file. */
export function checkSheets(sheets: readonly Sheet[], report: Report): void {
  const showsFocus = sheets.some(({ declarations }) =>
    declarations.some(
      ({ selector, property, value }) =>
        /:focus(-visible|-within)?\b/.test(selector) &&
        /^(outline|box-shadow|border|background|text-decoration)/.test(property) &&
        !isNone(value),
    ),
  )
  for (const { declarations, rules, isInline } of sheets) {
    for (const { property, value, valueAt } of declarations) {
      if (/!\s*important\s*$/i.test(value)) report("style/important", valueAt, `${property} is !important.`)
      if (property.toLowerCase() === "outline" && isNone(value) && !showsFocus)
        report("style/no-focus", valueAt, "The outline of the focus is removed.")
    }
    const fixed = isInline
      ? declarations.find(({ property, value }) => !property.startsWith("--") && !value.includes(hole))
      : undefined
    if (fixed) report("style/inline", fixed.at, `${fixed.property} is set in a style attribute.`)
    for (const { selector, at } of rules) {
      const names = selector.slice(0, 1_000).replaceAll(/"[^"]*"|'[^']*'/g, "")
      const [id] = (!selector.startsWith("@") && /#[a-z_][\w-]*/i.exec(names)) || []
      if (id) report("style/id-selector", at, `The selector ${selector} styles the id ${id}.`)
    }
  }
}

export function checkObsolete(document: Document, report: Report): void {
  for (const { name, at, attributes } of document.elements) {
    if (obsolete.has(name)) report("style/obsolete", at, `The element <${name}> is obsolete.`)
    for (const attribute of attributes.values())
      if (obsoleteAttributes.has(attribute.name) && !name.includes("-"))
        report("style/obsolete", attribute.at, `The attribute ${attribute.name} is obsolete.`)
  }
}

function isNone(value: string): boolean {
  return /^(none|0|0px|transparent)\b/.test(value.trim())
}
