// Diagnostics that came after the edit had stopped waiting for them. The loop adds them before the next request.
import type { Diagnostic } from "#ability/lsp/server/diagnostic.ts"
import { Instance } from "#kernel/instance.ts"

export type Late = {
  sessionId: string
  diagnostics: readonly Diagnostic[]
  say(list: readonly Diagnostic[]): string
}

/** Returns diagnostics that a server sent after it was asked about a change. */
export type Source = Omit<Late, "diagnostics"> & { take(): readonly Diagnostic[] }

const waiting = Instance.state(() => [] as Late[])
/** By server: of its last change only, since a new one ends the time in which they belong to the one before. */
const sources = Instance.state(() => new Map<string, Source>())
const maxWaiting = 100

export function add(late: Late): void {
  const all = waiting()
  all.push(late)
  if (all.length > maxWaiting) all.shift()
}

export function follow(server: string, source: Source): void {
  addFrom(sources().get(server))
  sources().set(server, source)
}

function addFrom(source: Source | undefined): void {
  const diagnostics = source?.take() ?? []
  if (source && diagnostics.length) add({ ...source, diagnostics })
}

/** Changes what waits: a later check may show that a diagnostic is gone. */
export function update(change: (list: readonly Diagnostic[]) => readonly Diagnostic[]): void {
  for (const one of waiting()) one.diagnostics = change(one.diagnostics)
}

/** The texts for a session, which do not wait any more. */
export function take(sessionId: string): string[] {
  for (const source of sources().values()) if (source.sessionId === sessionId) addFrom(source)
  const all = waiting()
  if (!all.length) return []
  const own = all.filter((one) => one.sessionId === sessionId)
  for (const one of own) all.splice(all.indexOf(one), 1)
  return own.flatMap((one) => (one.diagnostics.length ? [one.say(one.diagnostics)] : []))
}
