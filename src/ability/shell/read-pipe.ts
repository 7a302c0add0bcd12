// Reads the output of a command chunk by chunk, waiting for each to be processed: that bounds memory. It also stops
// if the end never comes because a daemon holds the other end.
import type { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"

export type Reading = {
  /** After the command: read what was written. True if somebody still holds the pipe. */
  drain(): Promise<boolean>
}

const quiet = 150
/** More than a pipe holds, so that a daemon that prints for ever cannot keep us. */
const maxRest = 1_000_000

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
      await within(quiet, finished)
      // After the machine was suspended, the clock is checked before the pipe.
      if (!done) await setImmediate()
    }
    stream.destroy()
    return !done
  }

  return Object.freeze({ drain })
}

/** Until the promise resolves, or so many milliseconds. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([promise, late])
  clearTimeout(timer)
}
