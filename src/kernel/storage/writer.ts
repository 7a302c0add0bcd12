// The only way to change the store. Changes are batched under the lock of all processes: appended to the journal (a
// write-ahead log), synced once, written as files, then acknowledged. Opening the store compares files with the
// journal, so neither a crash between two steps nor a power cut loses an acknowledged write.
import { fdatasync } from "node:fs"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { WriteFailed } from "./errors.ts"
import { type Folders, type Found, readRecord, syncRecords } from "./files.ts"
import {
  type Content,
  type Entry,
  headerBytes,
  recordSize,
  type Segment,
  voidRecord,
  writeRecord,
} from "./journal.ts"
import { createSegments, createWritten, type State, type StateFile } from "./journal-files.ts"
import { createOpening } from "./opening.ts"
import { createPlacer } from "./placing.ts"
import { recover } from "./recover.ts"

/** A change: computes the new text of its record (undefined removes it) from the current one. */
export type Change = { path: string; apply(current: () => Found): string | undefined }

export type Writer = {
  /** Resolves when the change survives a power cut. */
  submit(change: Change): Promise<void>
  /** Run something while no process writes, after everything that was submitted before. */
  exclusive<T>(fn: (state: State) => T): Promise<T>
  /** Apply the journal to the record files: after a power cut they may be older. */
  open(): Promise<void>
  /** The last journaled text of a record, to repair a broken file. */
  lastJournaled(path: string): Entry | undefined
  close(): Promise<void>
}

type Work = { change: Change } | { fn: (state: State) => unknown }
type Job = Work & { resolve: (value?: unknown) => void; reject: (error: unknown) => void }
type Journaled = { job: Job; path: string; offset: number }

const batchSize = 256
/** Writers wait for the checkpoint when the journal is longer than this many segments. */
const tooLong = 16

export function createWriter(
  folders: Folders,
  options: { segmentBytes: number; segmentRecords: number },
): Writer {
  const segments = createSegments(folders.journal, options.segmentBytes)
  const opening = createOpening(folders, segments)
  const placer = createPlacer(folders)
  const written = createWritten()
  const queue: Job[] = []
  let draining: Promise<void> | undefined
  let checkpointing: Promise<void> | undefined
  /** What writers wait for when the journal is too long. */
  let syncing: Promise<void> | undefined
  let isTooLong = false

  const writer: Writer = {
    submit: (change) => enqueue({ change }) as Promise<void>,
    exclusive: <T>(fn: (state: State) => T) => enqueue({ fn }) as Promise<T>,
    open: async () => void (await opening.open()),
    lastJournaled: (path) => lastOf(path, segments.readAll()),
    async close() {
      for (let work = busy(); work; work = busy()) await work
      await opening.close()
    },
  }
  return Object.freeze(writer)

  function busy(): Promise<unknown> | undefined {
    return draining ?? checkpointing ?? placer.busy()
  }

  function enqueue(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      queue.push({ ...work, resolve, reject })
      draining ??= Promise.resolve().then(drain)
    })
  }

  async function drain() {
    while (queue.length) {
      await drainOnce()
      if (isTooLong) await syncing
    }
    draining = undefined
  }

  async function drainOnce() {
    let release = () => {}
    try {
      const { lock, state } = await opening.reopen()
      await opening.acquire(lock)
      release = lock.release
      await commit(queue.splice(0, batchSize), state)
    } catch (error) {
      for (const job of queue.splice(0)) job.reject(asWriteFailure(job, error))
    } finally {
      release()
    }
  }

  async function commit(jobs: Job[], states: StateFile) {
    const journaled: Journaled[] = []
    let takeBack = () => {}
    try {
      const state = states.read() ?? recover({ folders, segments, states })
      const current = segments.use(state.generation)
      const texts = new Map<string, Buffer | undefined>()
      written.begin(state)
      states.clear()
      takeBack = () => {
        for (const { offset } of journaled) voidRecord(current, offset)
        states.write(state)
      }
      for (const job of jobs) append(job, { state, segment: current, journaled, texts })
      if (!journaled.length) return states.write(state)
      const refused = await syncAndPlace(current.fd, texts)
      for (const { job, path, offset } of journaled) {
        if (!refused.has(path)) continue
        voidRecord(current, offset)
        job.reject(asWriteFailure(job, refused.get(path)))
      }
      if (refused.size) await sync(current.fd)
      states.write(state)
      written.end(state)
      for (const { job } of journaled) job.resolve()
      takeBack = () => {}
      await rotateIfFull(state, states)
    } catch (error) {
      for (const job of jobs) job.reject(asWriteFailure(job, error))
      takeBack()
    }
  }

  /** Compute and journal one change. If it fails, only this change is rejected; the rest of the batch continues. */
  function append(
    job: Job,
    batch: { state: State; segment: Segment; journaled: Journaled[]; texts: Map<string, Buffer | undefined> },
  ) {
    try {
      if ("fn" in job) return job.resolve(job.fn(batch.state))
      const { path, apply } = job.change
      const text = apply(() => {
        if (!batch.texts.has(path)) return readRecord(folders, path)
        const earlier = batch.texts.get(path)
        return earlier && { text: earlier.toString() }
      })
      const bytes = text === undefined ? undefined : Buffer.from(text)
      const offset = batch.state.end
      writeRecord(batch.segment, offset, path, bytes)
      batch.state.end += recordSize(path, bytes)
      batch.state.records++
      batch.texts.set(path, bytes)
      written.add(path)
      batch.journaled.push({ job, path, offset })
    } catch (error) {
      job.reject(asWriteFailure(job, error))
    }
  }

  /** Sync the journal, then write the last value of every record. Returns the records that could not be written. */
  async function syncAndPlace(
    fd: number,
    texts: Map<string, Buffer | undefined>,
  ): Promise<Map<string, unknown>> {
    const synced = sync(fd).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    const prepared = placer.prepare(texts)
    const failed = await synced
    if (failed) {
      placer.drop(prepared)
      throw failed.error
    }
    return placer.put(prepared)
  }

  /** Switch to the other segment once its content is safe; until then this one grows. The new header is on disk
   * before anything of the old generation is overwritten: recovery reads a generation whole or not at all. */
  async function rotateIfFull(state: State, states: StateFile) {
    isTooLong = state.end > tooLong * options.segmentBytes
    if (state.end < options.segmentBytes && state.records < options.segmentRecords) return
    if (state.checkpoint >= state.generation - 1) {
      const generation = state.generation + 1
      await sync(segments.begin(generation).fd)
      segments.shrink()
      states.write({ ...state, generation, end: headerBytes, records: 0 })
      state.generation = generation
    }
    checkpointing ??= checkpoint(state.generation - 1).finally(() => {
      checkpointing = undefined
    })
  }

  function recordsOf(generation: number): Set<string> {
    return new Set(segments.read(generation)?.entries.map(({ path }) => path))
  }

  /** Sync the files of a finished generation in the background. */
  async function checkpoint(generation: number) {
    try {
      const synced = syncRecords(folders, written.recordsOf(generation) ?? recordsOf(generation))
      syncing = synced.catch(() => {})
      await synced
      await writer.exclusive((state) => {
        state.checkpoint = Math.max(state.checkpoint, generation)
      })
    } catch (error) {
      Log.warn("the journal could not be checkpointed; it grows until it can", { error: errorText(error) })
    }
  }
}

function lastOf(path: string, segments: Content[]): Entry | undefined {
  return segments.flatMap(({ entries }) => entries).findLast((entry) => entry.path === path)
}

function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())))
}

/** A system error becomes `WriteFailed`; an error of the change itself stays as it is. */
function asWriteFailure(job: Job, error: unknown): unknown {
  const isSystem =
    typeof (error as NodeJS.ErrnoException)?.syscall === "string" || (error as { errcode?: number })?.errcode
  return isSystem
    ? new WriteFailed("change" in job ? `Record ${job.change.path}` : "The store", error)
    : error
}
