// Design tokens: colours and sizes come from custom properties, and every custom property that is used is defined.

import type { Declaration, Sheet } from "#ability/analysis/parse/css.ts"
import { hole } from "#ability/analysis/parse/html.ts"
import type { Report } from "#ability/analysis/term/finding.ts"
import { nearest } from "#util/nearest.ts"

const colorProperties = /(^|-)(color|background|border|outline|fill|stroke|shadow|image)(-|$)/
const colorNames =
  "black silver gray grey white maroon red purple fuchsia green lime olive yellow navy blue teal aqua orange pink brown " +
  "gold indigo violet crimson coral salmon khaki tomato turquoise tan orchid magenta cyan beige ivory lavender " +
  "rebeccapurple slategray darkgray lightgray darkred darkgreen darkblue lightblue lightgreen whitesmoke"
const literalColor = new RegExp(
  `#[0-9a-f]{3,8}\\b|\\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\\((?!\\s*from)[^()]*\\)|(?<![\\w-])(?:${colorNames.replaceAll(" ", "|")})(?![\\w-])`,
  "i",
)
const sizeProperties =
  /^(font-size|line-height|letter-spacing|(margin|padding|inset|gap|row-gap|column-gap)(-.*)?|border(-.*)?-radius|border-radius)$/
const literalSize = /(?<![\w.#-])-?(\d*\.?\d+)(px|rem|em|pt|cm|mm|in|ch)\b/i
/** Below this, a length in pixels is a hairline. */
const hairline = 2
const maxValue = 2_000

export function definedIn(sheets: Iterable<Sheet>, into: Set<string>): void {
  for (const { declarations, rules } of sheets) {
    for (const { property } of declarations) if (property.startsWith("--")) into.add(property)
    for (const { selector } of rules) {
      const [, name] = /^@property\s+(--[\w-]+)/.exec(selector) ?? []
      if (name) into.add(name)
    }
  }
}

export function checkTokens(sheet: Sheet, defined: ReadonlySet<string>, report: Report): void {
  for (const declaration of sheet.declarations) {
    checkUse(declaration, defined, report)
    if (declaration.property.startsWith("--")) continue
    const property = declaration.property.toLowerCase()
    // Strings, addresses and fallbacks are no literals.
    const value = withoutUse(declaration.value)
    const color = colorProperties.test(property) ? literalColor.exec(value)?.[0] : undefined
    if (color)
      report("token/literal-color", declaration.valueAt, `${property} has the literal colour ${color}.`)
    const [size, amount, unit] = (sizeProperties.test(property) && literalSize.exec(value)) || []
    const isHairline = unit?.toLowerCase() === "px" && Number(amount) <= hairline
    if (size && Number(amount) !== 0 && !isHairline)
      report("token/literal-size", declaration.valueAt, `${property} has the literal size ${size}.`)
  }
}

function checkUse({ value, valueAt }: Declaration, defined: ReadonlySet<string>, report: Report): void {
  for (const { index, 1: name, 2: next } of value.matchAll(/var\(\s*(--[\w-]+)\s*([,)])?/g)) {
    if (next === "," || defined.has(name!)) continue
    const near = nearest(name!, defined)
    report(
      "token/undefined",
      valueAt + index,
      `The custom property ${name} is not defined.`,
      near && `Did you mean ${near}?`,
    )
  }
}

function withoutUse(value: string): string {
  let text = value
    .slice(0, maxValue)
    .replaceAll(/"[^"]*"|'[^']*'|url\([^)]*\)/gi, " ")
    .replaceAll(hole, " ")
  // From the inside out, a few levels deep.
  for (let i = 0; i < 4 && text.includes("var("); i++) text = text.replaceAll(/var\([^()]*\)/g, " ")
  return text
}
