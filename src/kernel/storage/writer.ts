// The one way into the store. Changes are taken in batches under the lock of all processes: appended to the journal,
// synced once, then put in place as files, then acknowledged. Whoever opens the store compares files with the
// journal, so that neither a crash between two steps nor a power cut loses what was acknowledged.
import { accessSync, constants, fdatasync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { errorText } from "#util/error.ts"
import * as Log from "../log.ts"
import { WriteFailed } from "./errors.ts"
import { type Folders, type Found, placeRecord, readRecord, syncRecords } from "./files.ts"
import {
  type Content,
  type Entry,
  headerBytes,
  recordSize,
  type Segment,
  voidRecord,
  writeRecord,
} from "./journal.ts"
import { createLock, type Lock } from "./lock.ts"
import { recover } from "./recover.ts"
import { createSegments } from "./segments.ts"
import { openState, type State, type StateFile } from "./state.ts"

/** What a change wants: the new text of its record (undefined removes it), from the present one. */
export type Change = { path: string; apply(current: () => Found): string | undefined }

export type Writer = {
  /** Resolves when the change survives a power cut. */
  submit(change: Change): Promise<void>
  /** Run something while no process writes, after everything that was submitted before. */
  exclusive<T>(fn: (state: State) => T): Promise<T>
  /** Bring the record files up to date with the journal: after a power cut they may be behind it. */
  open(): Promise<void>
  /** The last journaled text of a record: what a broken file can be mended with. */
  lastJournaled(path: string): Entry | undefined
  close(): Promise<void>
}

type Work = { change: Change } | { fn: (state: State) => unknown }
type Job = Work & { resolve: (value?: unknown) => void; reject: (error: unknown) => void }
type Placed = { job: Job; path: string; text: Buffer | undefined; offset: number }
type Opened = { lock: Lock; state: StateFile }

const batchSize = 256
/** Segments' worth of records after which writers wait for the checkpoint. */
const tooLong = 16

export function createWriter(
  folders: Folders,
  options: { segmentBytes: number; segmentRecords: number },
): Writer {
  const segments = createSegments(folders.journal, options.segmentBytes)
  const queue: Job[] = []
  let opening: Promise<Opened> | undefined
  let draining: Promise<void> | undefined
  let checkpointing: Promise<void> | undefined
  /** What writers wait for when the journal has become too long. */
  let syncing: Promise<void> | undefined
  let isTooLong = false

  const writer: Writer = {
    submit: (change) => enqueue({ change }) as Promise<void>,
    exclusive: <T>(fn: (state: State) => T) => enqueue({ fn }) as Promise<T>,
    open: async () => void (await opened()),
    lastJournaled: (path) => lastOf(path, segments.readAll()),
    async close() {
      while (draining || checkpointing) await (draining ?? checkpointing)
      if (opening) letGo(await opening)
    },
  }
  return Object.freeze(writer)

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
      const { lock, state } = (await stillThere()) ?? (await opened())
      if (!lock.tryAcquire()) await lock.acquire()
      release = lock.release
      await commit(queue.splice(0, batchSize), state)
    } catch (error) {
      for (const job of queue.splice(0)) job.reject(asWriteFailure(job, error))
    } finally {
      release()
    }
  }

  async function commit(jobs: Job[], states: StateFile) {
    const placed: Placed[] = []
    let takeBack = () => {}
    try {
      const state = states.read() ?? recover({ folders, segments, states })
      const current = segments.use(state.generation)
      const texts = new Map<string, Buffer | undefined>()
      states.clear()
      takeBack = () => {
        for (const { offset } of placed) voidRecord(current, offset)
        states.write(state)
      }
      for (const job of jobs) append(job, { state, segment: current, placed, texts })
      if (!placed.length) return states.write(state)
      await sync(current.fd)
      if (!placeAll(placed, current)) await sync(current.fd)
      states.write(state)
      for (const { job } of placed) job.resolve()
      takeBack = () => {}
      rotateIfFull(state, states)
    } catch (error) {
      for (const job of jobs) job.reject(asWriteFailure(job, error))
      takeBack()
    }
  }

  /** Compute and journal one change. What it throws is the caller's own; the others of the batch go on. */
  function append(
    job: Job,
    batch: { state: State; segment: Segment; placed: Placed[]; texts: Map<string, Buffer | undefined> },
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
      batch.placed.push({ job, path, text: bytes, offset })
    } catch (error) {
      job.reject(asWriteFailure(job, error))
    }
  }

  /** Put journaled records in place. One that cannot be, and what was built on it, is taken back. */
  function placeAll(placed: Placed[], into: Segment): boolean {
    const refused = new Map<string, unknown>()
    for (const { job, path, text, offset } of placed)
      try {
        if (refused.has(path)) throw refused.get(path)
        placeRecord(folders, path, text)
      } catch (error) {
        refused.set(path, error)
        voidRecord(into, offset)
        job.reject(asWriteFailure(job, error))
      }
    return refused.size === 0
  }

  /** What is open, unless somebody has removed the store under us; then it is to be opened again. */
  async function stillThere(): Promise<Opened | undefined> {
    const known = await opening?.catch(() => undefined)
    if (!known || known.state.isInPlace()) return known
    Log.warn("the store was removed while it was open and is made again", { folder: folders.journal })
    letGo(known)
  }

  function letGo({ lock, state }: Opened) {
    opening = undefined
    segments.close()
    lock.close()
    state.close()
  }

  function opened(): Promise<Opened> {
    if (!opening) {
      opening = open()
      opening.catch(() => {
        opening = undefined
      })
    }
    return opening
  }

  async function open(): Promise<Opened> {
    for (const folder of [folders.records, folders.temporary, folders.journal])
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folders.journal, constants.W_OK)
    const lock = await createLock(join(folders.journal, "lock"))
    let state: StateFile | undefined
    try {
      state = openState(join(folders.journal, "state"))
      if (!lock.tryAcquire()) await lock.acquire()
      try {
        recover({ folders, segments, states: state })
      } finally {
        lock.release()
      }
      return { lock, state }
    } catch (error) {
      lock.close()
      state?.close()
      segments.close()
      throw error
    }
  }

  /** Go on in the other segment once what it holds is safe; until then this one grows. */
  function rotateIfFull(state: State, states: StateFile) {
    isTooLong = state.end > tooLong * options.segmentBytes
    if (state.end < options.segmentBytes && state.records < options.segmentRecords) return
    if (state.checkpoint >= state.generation - 1) {
      const generation = state.generation + 1
      segments.begin(generation)
      states.write({ ...state, generation, end: headerBytes, records: 0 })
      state.generation = generation
    }
    checkpointing ??= checkpoint(state.generation - 1).finally(() => {
      checkpointing = undefined
    })
  }

  /** Sync the files of a finished generation, off the path of any caller. */
  async function checkpoint(generation: number) {
    try {
      const entries = segments.read(generation)?.entries ?? []
      const synced = syncRecords(folders, new Map(entries.map((entry) => [entry.path, entry])).values())
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

/** System errors say what could not be written; an error of the change itself passes as it is. */
function asWriteFailure(job: Job, error: unknown): unknown {
  const isSystem =
    typeof (error as NodeJS.ErrnoException)?.syscall === "string" || (error as { errcode?: number })?.errcode
  return isSystem
    ? new WriteFailed("change" in job ? `Record ${job.change.path}` : "The store", error)
    : error
}
