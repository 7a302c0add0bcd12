// Makes real pipes. What Node calls a pipe is a socket, which a command cannot open by name (`echo x >/dev/stderr`
// fails) and which cannot be stdout and stderr at once. Node has no call for a pipe, so `mkfifo` makes several named
// ones in advance; they are opened, and their names are removed at once.
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { promisify } from "node:util"
import * as Env from "#kernel/process/env.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { childProcess } from "#util/process.ts"
import { waitAtMost } from "#util/wait.ts"

export type Pipe = { read: number; write: number }
export type Pipes = {
  /** The caller closes both ends. Undefined if pipes cannot be made. */
  get(): Promise<Pipe | undefined>
  close(): Promise<void>
}

type Reading = {
  /** Reads the rest of the output after the command has ended. True if a process still has the pipe open. */
  drain(): Promise<boolean>
}

const quiet = 150
/** The most bytes to read after the end of a command: more than a pipe holds, but a daemon may print forever. */
const maxRest = 1_000_000

/** Keeps up to `size` pipes ready. */
export function createPipes(size: number): Pipes {
  const ready: Pipe[] = []
  let filling: Promise<void> | undefined
  let closed = false

  async function get() {
    // The next ones are made while this one is in use.
    if (ready.length <= size / 4) filling ??= fill().finally(() => (filling = undefined))
    if (ready.length === 0) await filling
    return ready.pop()
  }

  async function fill() {
    try {
      const made = await make(size)
      if (closed) made.forEach(closePipe)
      else ready.push(...made)
    } catch {
      // Out of space or descriptors: commands run with a socket instead.
    }
  }

  async function close() {
    closed = true
    await filling
    for (const pipe of ready.splice(0)) closePipe(pipe)
  }

  return Object.freeze({ get, close })
}

export function closePipe(pipe: Pipe): void {
  closeSync(pipe.read)
  closeSync(pipe.write)
}

/** Reads the output of a command chunk by chunk and waits until each is processed, which bounds memory. It also stops if
 * the end never comes because a daemon holds the other end. */
export function readPipe(stream: Socket, take: (chunk: Buffer) => Promise<void>): Reading {
  let bytes = 0
  let busy = false
  let done = false
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const end = () => {
    done = true
    finish()
  }
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    busy = true
    stream.pause()
    void take(chunk).finally(() => {
      // Free it now, not at the next garbage collection. A part of a larger buffer shares its memory.
      if (chunk.buffer.byteLength === chunk.byteLength) (chunk.buffer as ArrayBuffer).transfer(0)
      busy = false
      stream.resume()
    })
  })
  // A failed pipe has no more data.
  stream.on("error", end).on("end", end).on("close", end)

  async function drain() {
    const limit = bytes + maxRest
    for (let seen = -1; !done && (busy || bytes !== seen) && bytes < limit; ) {
      seen = bytes
      await waitAtMost(quiet, finished)
      // After the machine was suspended, the clock is checked before the pipe.
      if (!done) await setImmediate()
    }
    stream.destroy()
    return !done
  }

  return Object.freeze({ drain })
}

async function make(size: number): Promise<Pipe[]> {
  const program = findProgram(["mkfifo"])
  if (!program) return []
  const folder = mkdtempSync(join(tmpdir(), "vitamin-pipes-"))
  const made: Pipe[] = []
  try {
    const names = Array.from({ length: size }, (_, n) => join(folder, String(n)))
    await promisify(childProcess().execFile)(program, ["-m", "600", ...names], {
      env: Env.forChild(),
      timeout: 5_000,
    })
    for (const name of names) {
      const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
      made.push({ read, write: openSync(name, "w") })
    }
    return made
  } catch (error) {
    made.forEach(closePipe)
    throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
