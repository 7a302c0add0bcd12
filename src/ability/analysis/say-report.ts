// A report of the analysis as text, for people and models.
import { type Finding, type Report, type Structure, terms } from "./analysis.ts"

/** One line: place, severity, rule, what is wrong, what to do. */
export function sayFinding({ file, line, column, severity, rule, message, fix }: Finding): string {
  return `${file}:${line}:${column}: ${severity} ${rule}: ${message} ${fix}`
}

export function sayTotal({ files, errors, warnings, more }: Report): string {
  const count = (term: keyof Structure) => {
    const total = files.reduce((sum, { counts }) => sum + counts[term], 0)
    return `${total} ${total === 1 ? term.slice(0, -1) : term}`
  }
  const counted = terms.map(count).join(", ")
  const limited = more ? " There are more files; the others are left out." : ""
  return `${files.length} ${files.length === 1 ? "file" : "files"} (${counted}): ${of(errors, "error")}, ${of(warnings, "warning")}.${limited}`
}

function of(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`
}
