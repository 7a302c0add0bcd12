// Lines of two or more columns: the last one is wrapped behind the others.
import type { Line, Role, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, widthOf, wrapTo } from "#edge/tui/screen/width.ts"

/** A last column with less room than this is wrapped at the start of the line. */
const narrow = 16

/** `roles` says how the columns look. */
export function tableLines(
  rows: readonly (readonly string[])[],
  { columns, paint }: View,
  roles: readonly (Role | undefined)[] = [],
): Line[] {
  const safeRows = rows.map((row) => row.map(safeLine))
  const count = Math.max(0, ...rows.map((row) => row.length))
  const most = Math.max(4, Math.floor(columns / 2))
  const widths = Array.from({ length: Math.max(0, count - 1) }, (_, i) =>
    Math.min(most, Math.max(0, ...safeRows.map((row) => widthOf(row[i] ?? "")))),
  )
  return safeRows.flatMap((row) => {
    const cells = row.map((text, i) => {
      const width = widths[i]
      const cut = width === undefined ? text : cutTo(text, width)
      const role = roles[i]
      const padding = width === undefined ? "" : " ".repeat(Math.max(0, width - widthOf(cut)))
      return (role ? paint(role, cut) : cut) + padding
    })
    const before = widths.reduce((sum, width) => sum + width + 2, 0)
    const hang = columns - before < narrow ? 2 : before
    return wrapTo(cells.join("  ").trimEnd(), columns, hang)
  })
}
