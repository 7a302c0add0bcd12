// Checks with a server that sends diagnostics by itself (push): the last ones before a change are compared with those after it.
// Diagnostics that come after the check belong to the same change, until the next change is made.
import { setTimeout as sleep } from "node:timers/promises"
import { Ended } from "#ability/lsp/wire/connection.ts"
import type { Change, Checked } from "./create-checker.ts"
import type { Server } from "./create-server.ts"
import { type Diagnostic, newOnes } from "./diagnostic.ts"
import { toUri } from "./documents.ts"

export type PushChecker = Readonly<{
  /** `others`: open files that may depend on the changed one. */
  check(change: Change, others: readonly string[]): Promise<Checked>
  /** All diagnostics of a file as it is, or with a text that is not saved. */
  diagnose(path: string, text: string | undefined): Promise<Diagnostic[]>
}>

/** Milliseconds to wait for the diagnostics of a version, for more after the first ones, and for those of other files. */
const publishLimit = 10_000
const quietTime = 150
const othersTime = 500
/** Milliseconds to wait for a server that has sent nothing before. */
export const silentLimit = 500

/** `hasMore`: another check waits for this one. */
export function createPushChecker(server: Server, hasMore: () => boolean): PushChecker {
  const { documents, published, can } = server
  let isSilent = false
  /** Ends the time in which publications belong to the last change. */
  let endLater = () => {}

  async function check({ path, before, after }: Change, others: readonly string[]): Promise<Checked> {
    endLater()
    if (before !== undefined && documents.text(path) !== before) {
      const since = published.serial()
      await publication(path, documents.set(path, before), since, isSilent ? silentLimit : publishLimit)
    }
    const changes = changesFromNow()
    const since = published.serial()
    const version = documents.set(path, after)
    if (can.wantsSave) server.notify("textDocument/didSave", { textDocument: { uri: toUri(path) } })
    await publication(path, version, since)
    const isReported = (one: string) => (published.get(one)?.serial ?? 0) > since
    if (!isSilent) await waitFor(() => others.every(isReported), AbortSignal.timeout(othersTime))
    return { ...changes(), isSilent, later: createLater() }
  }

  /** Returns a function for what was published since, and which of it is new. */
  function changesFromNow(): () => Pick<Checked, "fresh" | "paths" | "present"> {
    const bases = new Map([...published.all()].map(([one, { items }]) => [one, items]))
    const since = published.serial()
    return () => {
      const changed = [...published.all()].filter(([, { serial }]) => serial > since)
      const fresh = changed.flatMap(([one, { items }]) => newOnes(bases.get(one) ?? [], items))
      const present = changed.flatMap(([, { items }]) => items)
      return { fresh, paths: changed.map(([one]) => one), present }
    }
  }

  function createLater(): () => Diagnostic[] {
    let found: Diagnostic[] = []
    let changes: ReturnType<typeof changesFromNow> | undefined = changesFromNow()
    const collect = () => {
      if (changes) found.push(...changes().fresh)
      changes &&= changesFromNow()
    }
    endLater = () => {
      collect()
      changes = undefined
    }
    return () => {
      collect()
      const taken = found
      found = []
      return taken
    }
  }

  /** Resolves when the diagnostics of this version have come, and no others for a moment. The next check does not wait for a
   * server that may send nothing. */
  async function publication(
    path: string,
    version: number | undefined,
    since: number,
    limit = publishLimit,
  ): Promise<void> {
    if (version === undefined) return
    const start = performance.now()
    const over = AbortSignal.timeout(limit)
    const isThere = () => {
      const last = published.get(path)
      return (
        last !== undefined && last.serial > since && (last.version === undefined || last.version >= version)
      )
    }
    await waitFor(() => isThere() || (isSilent && hasMore()), over)
    // One that answers late is slow, not silent.
    isSilent = !isThere() || (isSilent && performance.now() - start <= silentLimit)
    for (let last = -1; last !== published.serial() && !over.aborted; ) {
      last = published.serial()
      await sleep(quietTime, undefined, { ref: false })
    }
  }

  /** Returns at the abort too. */
  async function waitFor(condition: () => boolean, over: AbortSignal): Promise<void> {
    while (!condition() && !over.aborted && server.reason() === undefined)
      await Promise.race([published.next(), sleep(100, undefined, { ref: false })])
    if (server.reason() !== undefined) throw new Ended(server.reason()!)
  }

  async function diagnose(path: string, text: string | undefined): Promise<Diagnostic[]> {
    const since = published.serial()
    const isNew = documents.text(path) === undefined
    const opened = text === undefined ? isNew && documents.open(path) : documents.set(path, text)
    const version = opened === true ? 1 : opened || undefined
    await publication(path, version, since, isSilent ? silentLimit : publishLimit)
    return [...(published.get(path)?.items ?? [])]
  }

  return Object.freeze({ check, diagnose })
}
