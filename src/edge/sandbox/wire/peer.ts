// Requests, replies and notes over the pipe, the same on both sides. A request can be cancelled. Every frame is checked; one
// that does not fit ends the connection.
import type { Duplex } from "node:stream"
import { z } from "zod"
import { NamedError } from "#util/error.ts"
import { BrokenFrame, createFrameReader, writeFrame } from "./frames.ts"
import { fromWire, toWire, WireError } from "./wire-error.ts"

const Id = z.number().int().positive()
const Name = z.string().max(40)
/** By the field that only this kind has: an attempt to read a frame as each of them in turn takes ten times as long. */
const kinds = {
  ask: z.strictObject({ id: Id, ask: Name, args: z.unknown() }),
  reply: z.strictObject({ id: Id, reply: z.unknown() }),
  error: z.strictObject({ id: Id, error: WireError }),
  cancel: z.strictObject({ cancel: Id, reason: z.string().max(1_000).optional() }),
  note: z.strictObject({ note: Name, args: z.unknown() }),
}
type Kind = keyof typeof kinds
type Frame = { [K in Kind]: z.infer<(typeof kinds)[K]> }[Kind]
const kindNames = Object.keys(kinds) as Kind[]

export type Answerer = {
  ask(name: string, args: unknown, signal: AbortSignal): Promise<unknown>
  note(name: string, args: unknown): void
  /** Whether a question is answered before what came with it. */
  isUrgent?(name: string): boolean
}
export type Peer = Readonly<{
  ask(name: string, args: unknown, signal?: AbortSignal): Promise<unknown>
  note(name: string, args: unknown): void
  /** Resolves when the pipe is closed, with the reason if one side broke the rules. */
  closed: Promise<Error | undefined>
  isClosed(): boolean
  /** Why this side closed the pipe: the other one broke its rules. */
  isBroken(): Error | undefined
  /** Resolves when the other side has read what was sent before. */
  drained(): Promise<void>
  close(reason?: Error): void
}>

/** Requests of the other side that are answered at the same time. Above it, the pipe is not read. */
const maxOpen = 256
/** Bytes of these requests. */
const maxOpenBytes = 96 << 20
/** Bytes that wait for the other side to read them. */
const maxWaiting = 256 << 20

class Closed extends NamedError {
  constructor(reason: Error | undefined) {
    super("Sandbox.Closed", reason?.message ?? "The other side of the sandbox's pipe has ended.")
  }
}

export function createPeer(stream: Duplex, answerer: Answerer): Peer {
  const asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  const answering = new Map<number, AbortController>()
  const { promise: closed, resolve: setClosed } = Promise.withResolvers<Error | undefined>()
  let lastId = 0
  let openBytes = 0
  let isClosed = false
  let draining: PromiseWithResolvers<void> | undefined
  let broken: Error | undefined
  /** Frames that have come and are not taken yet, in order. */
  let come: { frame: Frame; size: number }[] = []
  let comeBytes = 0
  let soon: NodeJS.Immediate | undefined
  const frames = createFrameReader((value, size) => {
    const frame = frameOf(value)
    if (!frame) throw new BrokenFrame("a frame of an unknown form")
    come.push({ frame, size })
    comeBytes += size
  }, isFull)
  stream.on("data", read)
  for (const event of ["error", "end", "close"])
    stream.on(event, () => {
      ending(takeAll)
      close()
    })

  function read(bytes?: Buffer): void {
    ending(() => {
      frames(bytes)
      const { urgent = [], other = [] } = Object.groupBy(come, ({ frame }) =>
        "ask" in frame && answerer.isUrgent?.(frame.ask) ? "urgent" : "other",
      )
      if (!urgent.length) return takeAll()
      come = other
      for (const one of urgent) take(one)
      // When the urgent ones have written what they send.
      soon ??= setImmediate(() => ending(takeAll))
    })
  }

  /** A frame that breaks the rules ends the connection. */
  function ending(work: () => void): void {
    try {
      work()
    } catch (error) {
      close(error as Error)
    }
  }

  function takeAll(): void {
    clearImmediate(soon)
    soon = undefined
    const all = come
    come = []
    for (const one of all) take(one)
    // Some may have waited only for these.
    if (all.length && !isFull()) read()
  }

  function take({ frame, size }: { frame: Frame; size: number }): void {
    comeBytes -= size
    if (isClosed) return
    if ("ask" in frame) void answer(frame, size)
    else if ("note" in frame) answerer.note(frame.note, frame.args)
    else if ("cancel" in frame) answering.get(frame.cancel)?.abort(frame.reason)
    else settle(frame)
  }

  function settle(frame: Extract<Frame, { reply?: unknown } | { error: WireError }> & { id: number }): void {
    const one = asked.get(frame.id)
    if (!one) throw new BrokenFrame("a reply to a question that nobody asked")
    asked.delete(frame.id)
    if ("error" in frame) one.reject(fromWire(frame.error as WireError))
    else one.resolve((frame as { reply?: unknown }).reply)
  }

  async function answer({ id, ask, args }: Extract<Frame, { ask: string }>, size: number): Promise<void> {
    if (answering.has(id)) return close(new BrokenFrame("two questions with one number"))
    const abort = new AbortController()
    answering.set(id, abort)
    openBytes += size
    if (isFull()) stream.pause()
    try {
      send({ id, reply: (await answerer.ask(ask, args, abort.signal)) ?? null })
    } catch (error) {
      if (error instanceof BrokenFrame) close(error)
      else send({ id, error: toWire(error) })
    } finally {
      answering.delete(id)
      openBytes -= size
      if (stream.isPaused() && !isFull()) {
        stream.resume()
        // What had come in one piece with the last request.
        process.nextTick(read)
      }
    }
  }

  function isFull(): boolean {
    return answering.size + come.length >= maxOpen || openBytes + comeBytes >= maxOpenBytes
  }

  function send(frame: object): void {
    if (isClosed) return
    if (stream.writableLength > maxWaiting) return void close(new BrokenFrame("nothing, and reads nothing"))
    try {
      writeFrame(stream, frame)
    } catch (error) {
      const { id } = frame as { id?: number }
      if (id === undefined || !("reply" in frame)) throw error
      writeFrame(stream, { id, error: toWire(error) })
    }
  }

  function ask(name: string, args: unknown, signal?: AbortSignal): Promise<unknown> {
    if (isClosed) return Promise.reject(new Closed(undefined))
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const cancel = () =>
      send({ cancel: id, ...(typeof signal?.reason === "string" ? { reason: signal.reason } : {}) })
    asked.set(id, { resolve, reject })
    try {
      send({ id, ask: name, args })
    } catch (error) {
      asked.delete(id)
      reject(error)
    }
    if (signal?.aborted) cancel()
    signal?.addEventListener("abort", cancel, { once: true })
    return promise.finally(() => signal?.removeEventListener("abort", cancel))
  }

  function drained(): Promise<void> {
    if (isClosed || !stream.writableNeedDrain) return Promise.resolve()
    if (draining) return draining.promise
    draining = Promise.withResolvers<void>()
    stream.once("drain", draining.resolve)
    return draining.promise.finally(() => {
      draining = undefined
    })
  }

  function close(reason?: Error): void {
    if (isClosed) return
    isClosed = true
    draining?.resolve()
    broken = reason
    for (const { reject } of asked.values()) reject(new Closed(reason))
    for (const abort of answering.values()) abort.abort("the pipe was closed")
    asked.clear()
    setClosed(reason)
    stream.destroy()
  }

  return Object.freeze({
    ask,
    note: (note: string, args: unknown) => send({ note, args }),
    closed,
    isClosed: () => isClosed,
    isBroken: () => broken,
    drained,
    close,
  })
}

function frameOf(value: unknown): Frame | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const kind = kindNames.find((name) => Object.hasOwn(value, name))
  return kind && kinds[kind].safeParse(value).data
}
