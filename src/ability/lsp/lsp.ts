// The entry file of this folder. Language servers tell what a change of a file breaks: new diagnostics of the file and of the
// files that depend on it. A change waits for them as long as the configuration says; later ones join the next turn.
import { relative } from "node:path"
import type { Context } from "#ability/call/types.ts"
import type { Change, Checked } from "#ability/lsp/server/create-checker.ts"
import { silentLimit } from "#ability/lsp/server/create-push-checker.ts"
import type { Server } from "#ability/lsp/server/create-server.ts"
import { type Diagnostic, stillIn } from "#ability/lsp/server/diagnostic.ts"
import { maxFile } from "#ability/lsp/server/documents.ts"
import { toIndex, toPosition } from "#ability/lsp/server/positions.ts"
import { tellUntrusted } from "#ability/shell/project-tools.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { orAborted } from "#util/wait.ts"
import { type Candidate, findServers, waitTime } from "./find-servers.ts"
import * as LateDiagnostics from "./late-diagnostics.ts"
import * as Pool from "./pool.ts"

/** Of the diagnostics of one change. */
const maxShown = 10
/** What each session was told about servers that cannot be used. */
const told = Instance.state(() => new Set<string>())
/** Servers that have not answered in time, by how many changes they still owe an answer for. */
const slow = Instance.state(() => new Map<string, number>())
/** Servers that send nothing for a change that breaks nothing: a full wait for each change would tell nothing. */
const silent = Instance.state(() => new Set<string>())

/** What a change of a file breaks, as a text for the model; "" if nothing is known. Never fails because of a server. */
export async function diagnose(change: Change, context: Context): Promise<string> {
  if (!isInside(Instance.worktree, change.path) || change.after.length > maxFile) return ""
  const [candidates, wait] = await Promise.all([findServers(change.path), waitTime()])
  const texts = await Promise.all(candidates.map((one) => diagnoseBy(one, change, { context, wait })))
  return texts.filter(Boolean).join("\n")
}

async function diagnoseBy(
  candidate: Candidate,
  change: Change,
  { context, wait }: { context: Context; wait: number },
): Promise<string> {
  const key = `${candidate.id}\0${candidate.root}`
  // A server that has not answered an earlier change would only hold up this one as well.
  const mayBeFine = silent().has(key)
  const limit = mayBeFine ? Math.min(wait, silentLimit) : slow().get(key) ? 0 : wait
  let isLate = false
  const work = check(candidate, change).then(
    ({ fresh, server, isSilent, later }) => {
      if (isSilent) silent().add(key)
      else silent().delete(key)
      const say = (list: readonly Diagnostic[]) => sayDiagnostics(list, { server, context })
      if (later) LateDiagnostics.follow(key, { sessionId: context.sessionId, say, take: later })
      if (isLate) addLate(fresh, context, say)
      return say(fresh)
    },
    (error) => explain(error, candidate, context),
  )
  const result = await within(work, limit, context.signal)
  if (result !== undefined) return result
  isLate = true
  if (mayBeFine) return ""
  countSlow(key, 1)
  void work.finally(() => countSlow(key, -1))
  return `[the diagnostics of "${candidate.id}" are not ready; new ones will follow]`
}

function countSlow(key: string, change: number): void {
  slow().set(key, (slow().get(key) ?? 0) + change)
}

function check(
  candidate: Candidate,
  change: Change,
): Promise<{ server: Server } & Pick<Checked, "fresh" | "isSilent" | "later">> {
  return Pool.run(candidate, async ({ server, checker }) => {
    const { paths, present, ...checked } = await checker.check(change)
    LateDiagnostics.update((list) => [
      ...list.filter(({ path }) => !paths.includes(path)),
      ...stillIn(list, present),
    ])
    return { server, ...checked }
  })
}

function addLate(
  diagnostics: readonly Diagnostic[],
  { sessionId }: Context,
  say: (list: readonly Diagnostic[]) => string,
): void {
  if (diagnostics.length) LateDiagnostics.add({ sessionId, diagnostics, say })
}

/** Undefined if the time is over. */
async function within<T>(work: Promise<T>, wait: number, signal: AbortSignal): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), wait)
  try {
    return await orAborted(Promise.race([work, late]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Why there are no diagnostics, once per session and reason. A server that is not installed is no problem. */
function explain(error: unknown, { id }: Candidate, context: Context): string {
  const { sessionId, notice } = context
  const known = error instanceof Pool.Unavailable ? error.data : undefined
  if (known?.isUntrusted) tellUntrusted(context)
  if (known?.isMissing || known?.isUntrusted) return ""
  const text = errorText(error)
  Log.debug("a language server failed", { id, error: text })
  const key = `${sessionId} ${id} ${text.replace(/\d+/g, "")}`
  if (told().has(key)) return ""
  told().add(key)
  const reason = known ? text : `The language server "${id}" failed: ${text}`
  notice?.(reason)
  return `[no diagnostics: ${reason}]`
}

/** Errors first, at most ten. Files that the model may not read, and files outside, are left out. */
export function sayDiagnostics(
  all: readonly Diagnostic[],
  options: { server: Server; context: Context; most?: number; title?: string },
): string {
  const { server, context, most = maxShown, title = "New diagnostics:" } = options
  const mayRead = (target: string) => context.judge?.({ permission: "file.read", target }) !== "deny"
  const visible = all.filter(({ path }) => isInside(Instance.worktree, path) && mayRead(path))
  if (!visible.length) return ""
  const sorted = visible.toSorted((a, b) => (a.severity === b.severity ? 0 : a.severity === "error" ? -1 : 1))
  const lines = sorted.slice(0, most).map((one) => sayDiagnostic(one, server))
  const more = visible.length - lines.length
  return [...(title ? [title] : []), ...lines, ...(more > 0 ? [`[${more} more]`] : [])].join("\n")
}

/** `src/a.ts:3:5 error 2322: Type …`. Positions that do not exist in the file become the nearest that do. */
function sayDiagnostic(one: Diagnostic, { documents, encoding }: Server): string {
  const lines = documents.lines(one.path)
  const at = { line: one.line, character: one.column }
  const place = lines ? toPosition(lines, toIndex(lines, at, encoding), "utf-16") : at
  const shown = relative(Instance.directory, one.path)
  const code = one.code ? ` ${one.code}` : ""
  return `${shown}:${place.line + 1}:${place.character + 1} ${one.severity}${code}: ${one.message}`
}
