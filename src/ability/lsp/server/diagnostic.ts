// Diagnostics as servers send them, in the form that the model gets. Everything a server sends is checked and bounded.
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { readRange } from "./positions.ts"

/** `line` and `column` are those of the protocol, from zero. */
export type Diagnostic = {
  path: string
  line: number
  column: number
  severity: "error" | "warning"
  code: string
  message: string
}

const severities = ["error", "error", "warning"] as const
const maxPerFile = 1_000
const maxMessage = 400

/** Errors and warnings of one file. Hints and information are left out: they ask for nothing. */
export function readDiagnostics(path: string, items: unknown): Diagnostic[] {
  if (!Array.isArray(items)) return []
  return items.slice(0, maxPerFile).flatMap((item): Diagnostic[] => {
    const { range, severity = 1, code, message } = (item ?? {}) as Record<string, unknown>
    const start = readRange(range)?.start
    const level = severities[severity as number]
    if (!start || !level || typeof message !== "string") return []
    const named = typeof code === "string" || typeof code === "number" ? String(code) : ""
    return [
      {
        path,
        line: Math.max(0, start.line),
        column: Math.max(0, start.character),
        severity: level,
        code: oneLine(named, 60),
        message: oneLine(message, maxMessage),
      },
    ]
  })
}

/** The diagnostics of `after` that `before` does not have. Lines may have moved, so equal ones are counted: first those on
 * the same line, then any. */
export function newOnes(before: readonly Diagnostic[], after: readonly Diagnostic[]): Diagnostic[] {
  const exact = (one: Diagnostic) => `${textKey(one)}\0${one.line}`
  const fresh = without(after, before, exact)
  const gone = without(before, after, exact)
  return without(fresh, gone, textKey)
}

/** Those of `all` whose text is among `present`, wherever it is now. */
export function stillIn(all: readonly Diagnostic[], present: readonly Diagnostic[]): Diagnostic[] {
  const texts = new Set(present.map(textKey))
  return all.filter((one) => texts.has(textKey(one)))
}

/** `all` without one for each of `taken` that has the same key. */
function without(all: readonly Diagnostic[], taken: readonly Diagnostic[], key: (one: Diagnostic) => string) {
  const counts = new Map<string, number>()
  for (const one of taken) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
  return all.filter((one) => {
    const left = counts.get(key(one)) ?? 0
    if (left > 0) counts.set(key(one), left - 1)
    return left === 0
  })
}

function textKey({ path, severity, code, message }: Diagnostic): string {
  return [path, severity, code, message].join("\0")
}

function oneLine(text: string, limit: number): string {
  const line = Log.escapeControls(
    Secret.redact(text.slice(0, 4 * limit))
      .replace(/\s+/g, " ")
      .trim(),
  )
  return line.length > limit ? `${line.slice(0, limit)}…` : line
}
