import { hole } from "./parse/html.ts"
import { type Finding, type Report, rules } from "./term/finding.ts"

const maxFindings = 200
const maxMessage = 300

/** Collects the findings of a file: with line and column, each once, and only so many. */
export function createReporter(file: string, text: string): { report: Report; findings: Finding[] } {
  const findings: Finding[] = []
  const seen = new Set<string>()
  let starts: number[] | undefined
  return { report, findings }

  function report(rule: keyof typeof rules, at: number, message: string, fix?: string): void {
    if (findings.length > maxFindings) return
    const isLast = findings.length === maxFindings
    const place = isLast ? 0 : at
    const name = isLast ? "file/too-many-findings" : rule
    const said = isLast ? `There are more than ${maxFindings} findings; the others are left out.` : message
    const key = `${name} ${place} ${said}`
    if (seen.has(key)) return
    seen.add(key)
    findings.push({
      file,
      ...positionOf(place),
      rule: name,
      severity: rules[name].severity,
      message: short(said),
      fix: short((!isLast && fix) || rules[name].fix),
    })
  }

  function positionOf(at: number): { line: number; column: number } {
    starts ??= [0, ...[...text.matchAll(/\r\n?|\n/g)].map(({ index, 0: end }) => index + end.length)]
    let low = 0
    for (let high = starts.length - 1; low < high; ) {
      const middle = Math.ceil((low + high) / 2)
      if (starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - starts[low]! + 1 }
  }
}

/** Expressions are shown as an ellipsis. */
function short(text: string): string {
  const shown = text.replaceAll(new RegExp(`${hole}+`, "g"), "…").replace(/\s+/g, " ")
  return shown.length > maxMessage ? `${shown.slice(0, maxMessage - 1)}…` : shown
}
