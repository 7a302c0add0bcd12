// Text with inline Markdown, painted: one string for each line of the source.
import type { Paint, Role } from "#edge/tui/screen/line.ts"
import { parseInline } from "./inline.ts"

export function paintText(text: string, paint: Paint, role?: Role): string[] {
  const lines = [""]
  // Every line break of the source is kept, so the marks of a hard line break (a backslash, blanks) are dropped.
  for (const span of parseInline(text.replace(/(?:\\| +)\n/g, "\n"))) {
    const roles = role ? [role, ...span.roles] : span.roles
    for (const [i, part] of span.text.split("\n").entries()) {
      if (i > 0) lines.push("")
      if (part !== "")
        lines[lines.length - 1] += roles.reduceRight((painted, each) => paint(each, painted), part)
    }
  }
  return lines
}
