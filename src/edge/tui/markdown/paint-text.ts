// Text with inline Markdown, painted: one string for each line of the source.
import type { Role, View } from "#edge/tui/screen/line.ts"
import { linkTo } from "#edge/tui/screen/width.ts"
import { parseInline } from "./inline.ts"

/** In a terminal with hyperlinks, the text of a link leads to its address, which is not shown then. */
export function paintText(text: string, { paint, hasLinks }: View, role?: Role): string[] {
  const lines = [""]
  let isLinked = false
  // Every line break of the source is kept, so the marks of a hard line break (a backslash, blanks) are dropped.
  for (const { text: words, roles: own, href, isAddress } of parseInline(
    text.replace(/(?:\\| +)\n/g, "\n"),
  )) {
    if (isAddress && isLinked) continue
    const roles = role ? [role, ...own] : own
    const link = href && hasLinks ? linkTo(href) : undefined
    isLinked = link !== undefined
    for (const [i, part] of words.split("\n").entries()) {
      if (i > 0) lines.push("")
      const painted = part && roles.reduceRight((inner, each) => paint(each, inner), part)
      if (part !== "") lines[lines.length - 1] += link ? link(painted) : painted
    }
  }
  return lines
}
