// The running language servers of an instance: started when first needed, one per root, a few at a time. A server that
// ends is started again after a pause that grows, and one that nobody uses is ended.
import { type Checker, createChecker } from "#ability/lsp/server/create-checker.ts"
import { createServer, type Server } from "#ability/lsp/server/create-server.ts"
import { Instance } from "#kernel/instance.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { errorText, NamedError } from "#util/error.ts"
import * as ChangedFiles from "./changed-files.ts"
import type { Candidate } from "./find-servers.ts"

export type Running = { server: Server; checker: Checker }
type Entry = {
  running: Promise<Running> | undefined
  /** Questions that have not been answered. */
  working: number
  failures: number
  /** When it may be started again, and why it ended. */
  retryAt: number
  reason: string
  usedAt: number
  idle?: NodeJS.Timeout
  /** Ends a server that has not started yet. */
  stop?: AbortController
}

/** The server cannot be used now. `isMissing`: it is not installed. */
export class Unavailable extends NamedError {
  declare readonly data: { server: string; isMissing: boolean; isUntrusted: boolean }

  constructor(server: string, reason: string, { isMissing = false, isUntrusted = false } = {}) {
    super("Lsp.Unavailable", `The language server "${server}" is not available: ${reason}`, {
      ...{ server, isMissing, isUntrusted },
    })
  }
}

const maxServers = 4
const maxWorking = 8
const idleTime = 5 * 60_000
const firstPause = 2_000
const longestPause = 5 * 60_000
const maxFailures = 5

const entries = Instance.state(
  () => new Map<string, Entry>(),
  async (all) => {
    await Promise.all([...all.values()].map(end))
  },
)

/** Runs work with the server of a candidate, which is started if it does not run. Language servers run settings and programs
 * of the project, so they start in a trusted folder only. */
export async function run<T>(candidate: Candidate, work: (running: Running) => Promise<T>): Promise<T> {
  const isTrusted = (await Reviewed.of(Instance.directory)).isTrusted
  const entry = entryOf(candidate)
  if (entry.working >= maxWorking) throw new Unavailable(candidate.id, "it is too slow for the changes")
  entry.working++
  clearTimeout(entry.idle)
  try {
    const result = await work(await (entry.running ?? start(candidate, entry, isTrusted)))
    entry.failures = 0
    return result
  } finally {
    entry.working--
    entry.usedAt = performance.now()
    entry.idle = setTimeout(() => void end(entry), idleTime).unref()
  }
}

/** The state of a server in all its folders. It is running if it runs in one of them. */
export function stateOf(id: string): { state: "running" | "failed" | "not started"; reason?: string } {
  const own = [...entries()].filter(([key]) => key.startsWith(`${id}\0`)).map(([, entry]) => entry)
  if (own.some(({ running }) => running)) return { state: "running" }
  const failed = own.find(({ failures }) => failures > 0)
  return failed ? { state: "failed", reason: failed.reason } : { state: "not started" }
}

function entryOf({ id, root }: Candidate): Entry {
  const all = entries()
  const key = `${id}\0${root}`
  const known = all.get(key)
  if (known) return known
  const made = { running: undefined, working: 0, failures: 0, retryAt: 0, reason: "", usedAt: 0 }
  all.set(key, made)
  return made
}

function start(candidate: Candidate, entry: Entry, isTrusted: boolean): Promise<Running> {
  const { id } = candidate
  const left = Math.ceil((entry.retryAt - performance.now()) / 1_000)
  if (entry.failures >= maxFailures)
    throw new Unavailable(id, `it failed ${entry.failures} times: ${entry.reason}`)
  if (entry.failures && left > 0)
    throw new Unavailable(id, `${entry.reason}; it may start again in ${left} s`)
  const definition = candidate.define()
  if (!definition) throw new Unavailable(id, "it is not installed", { isMissing: true })
  if (!isTrusted) throw new Unavailable(id, "the folder is not trusted", { isUntrusted: true })
  makePlace(entry)
  const changed = ChangedFiles.listen(candidate.root)
  const onEnd = (reason: string) => {
    changed.end()
    if (entry.running === running) fail(entry, reason)
  }
  entry.stop = new AbortController()
  const { signal } = entry.stop
  const running: Promise<Running> = createServer(definition, { onEnd, signal }).then(
    (server) => ({ server, checker: createChecker(server, changed.take) }),
    (error) => {
      onEnd(errorText(error))
      throw new Unavailable(id, errorText(error))
    },
  )
  entry.running = running
  return running
}

function fail(entry: Entry, reason: string): void {
  entry.running = undefined
  entry.failures++
  entry.reason = reason
  entry.retryAt = performance.now() + Math.min(longestPause, firstPause * 2 ** (entry.failures - 1))
}

/** Ends the servers that were not used for the longest time. */
function makePlace(entry: Entry): void {
  const others = [...entries().values()].filter((one) => one !== entry && one.running)
  for (const one of others
    .sort((a, b) => a.usedAt - b.usedAt)
    .slice(0, Math.max(0, others.length + 1 - maxServers)))
    void end(one)
}

async function end(entry: Entry): Promise<void> {
  const { running } = entry
  clearTimeout(entry.idle)
  entry.running = undefined
  entry.stop?.abort()
  await running?.then(({ server }) => server.end()).catch(() => {})
}
