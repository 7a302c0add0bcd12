// Real pipes. What Node calls a pipe is a socket, which a command cannot open by name (`echo x >/dev/stderr` fails), and
// which cannot be stdout and stderr at once. There is no call to make a pipe, so named ones are made by mkfifo, several
// ahead of their use, opened, and their names removed at once.
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Env from "#kernel/process/env.ts"
import { childProcess } from "#util/process.ts"
import { findProgram } from "./find-program.ts"

export type Pipe = { read: number; write: number }
export type Pipes = {
  /** The caller closes both ends. Undefined if pipes cannot be made. */
  get(): Promise<Pipe | undefined>
  close(): Promise<void>
}

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

async function make(size: number): Promise<Pipe[]> {
  const program = findProgram("mkfifo")
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
