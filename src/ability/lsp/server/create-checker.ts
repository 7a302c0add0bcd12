// Finds the diagnostics that a change causes, in the changed file and in the files that depend on it. A server that can be
// asked (pull) is asked about both states; one that sends diagnostics by itself (push) is listened to. Checks of one server run
// one after the other.
import { Ended } from "#ability/lsp/wire/connection.ts"
import { createDependents } from "./create-dependents.ts"
import { createPushChecker } from "./create-push-checker.ts"
import type { Server } from "./create-server.ts"
import { toPath } from "./create-server.ts"
import { type Diagnostic, newOnes, readDiagnostics } from "./diagnostic.ts"
import { toUri } from "./documents.ts"

/** `before` is undefined for a new file. */
export type Change = { path: string; before: string | undefined; after: string }
/** `present`: everything that the checked files have now. `isSilent`: the server sends nothing if nothing changes for it.
 * `later`: new diagnostics that the server sent after the check, and that this function has not returned yet. */
export type Checked = {
  fresh: Diagnostic[]
  paths: string[]
  present: Diagnostic[]
  isSilent: boolean
  later?: () => Diagnostic[]
}

export type Checker = Readonly<{
  check(change: Change): Promise<Checked>
  /** All diagnostics of a file as it is, or with a text that is not saved. */
  diagnose(path: string, text?: string): Promise<Diagnostic[]>
  /** Runs a question when no check runs, with everything that changed on disk told. */
  ask<T>(work: () => Promise<T>): Promise<T>
}>

const attempts = 3

export function createChecker(server: Server, takeChanged: () => string[]): Checker {
  const { documents, can } = server
  /** The diagnostics of the last check. They are those before the next change, if nothing else has changed. */
  let known = new Map<string, Diagnostic[]>()
  const dependents = createDependents(server)
  let queue: Promise<unknown> = Promise.resolve()
  let queued = 0
  const push = createPushChecker(server, () => queued > 1)

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    queued++
    const done = queue.then(work).finally(() => queued--)
    queue = done.catch(() => {})
    return done
  }

  async function checkByPull({ path, before, after }: Change): Promise<Checked> {
    if (refresh(path) || documents.text(path) !== before) known = new Map()
    documents.set(path, after)
    const [own, importing] = await Promise.all([pull(path), dependents.find(path)])
    dependents.learn(path, after)
    const others = importing.filter(documents.open)
    const found = new Map(own)
    for (const [one, list] of (await Promise.all(others.map(pullOther))).flat()) found.set(one, list)
    const bases = await basesOf({ path, before, after }, found)
    known = found
    const fresh = [...found].flatMap(([one, list]) => newOnes(bases.get(one) ?? [], list))
    return { fresh, paths: [...found.keys()], present: [...found.values()].flat(), isSilent: false }
  }

  /** The diagnostics before the change. Only files that have some now matter; for those that are not known, the server is
   * told the old text for a moment. A new file had none, and its dependents were broken without it. */
  async function basesOf({ path, before, after }: Change, found: ReadonlyMap<string, Diagnostic[]>) {
    if (before === undefined) return new Map([...found].filter(([one]) => one !== path))
    const unknown = [...found].filter(([one, list]) => list.length && !known.has(one)).map(([one]) => one)
    if (!unknown.length) return known
    documents.set(path, before)
    try {
      return new Map([...known, ...(await Promise.all(unknown.map(pullOther))).flat()])
    } finally {
      documents.set(path, after)
    }
  }

  /** The server may name problems of other files along with those of this one. */
  async function pull(path: string): Promise<[string, Diagnostic[]][]> {
    const params = { textDocument: { uri: toUri(path) } }
    const report = (await retry(() => server.request("textDocument/diagnostic", params))) as Report
    const related = Object.entries(report?.relatedDocuments ?? {}).flatMap(([uri, one]) => {
      const other = toPath(uri)
      return other === undefined
        ? []
        : [[other, readDiagnostics(other, one?.items)] as [string, Diagnostic[]]]
    })
    return [...related, [path, readDiagnostics(path, report?.items)]]
  }

  /** A file that the server cannot report about must not hide the others. */
  function pullOther(path: string): Promise<[string, Diagnostic[]][]> {
    return pull(path).catch((error) => {
      if (error instanceof Ended) throw error
      return []
    })
  }

  async function checkByPush(change: Change): Promise<Checked> {
    refresh(change.path)
    const others = (await dependents.find(change.path)).filter(documents.open)
    dependents.learn(change.path, change.after)
    return push.check(change, others)
  }

  function refresh(path?: string): boolean {
    const changed = takeChanged()
    dependents.learnChanged(changed)
    return documents.refresh(changed, path)
  }

  async function diagnoseNow(path: string, text: string | undefined): Promise<Diagnostic[]> {
    refresh()
    if (!can.pulls) return push.diagnose(path, text)
    if (text !== undefined) documents.set(path, text)
    return documents.open(path) ? ((await pull(path)).find(([one]) => one === path)?.[1] ?? []) : []
  }

  return Object.freeze({
    check: (change: Change) => inTurn(() => (can.pulls ? checkByPull(change) : checkByPush(change))),
    diagnose: (path: string, text?: string) => inTurn(() => diagnoseNow(path, text)),
    ask: <T>(work: () => Promise<T>) =>
      inTurn(() => {
        refresh()
        return work()
      }),
  })
}

type Report = { items?: unknown; relatedDocuments?: Record<string, { items?: unknown } | null> } | null

/** Servers cancel a question when the state changes while they answer it. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if (attempt >= attempts || error instanceof Ended || !/cancel/i.test(String(error))) throw error
    }
}
