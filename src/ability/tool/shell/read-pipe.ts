// Takes what comes out of a command, piece after piece, each waited for before the next: that bounds memory. Knows when to
// stop where the end never comes, because a daemon holds the other end.
import type { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"

export type Reading = {
  /** After the command: what was written is taken. True when somebody still holds the pipe. */
  drain(): Promise<boolean>
}

const quiet = 150
/** More than a pipe holds, so that a daemon which prints for ever cannot keep us. */
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
      // Let go now, not when memory is next tidied. One that is part of a larger memory shares it with others.
      if (chunk.buffer.byteLength === chunk.byteLength) (chunk.buffer as ArrayBuffer).transfer(0)
      busy = false
      stream.resume()
    })
  })
  // A pipe that fails has nothing more to give.
  stream.on("error", end).on("end", end).on("close", end)

  async function drain() {
    const limit = bytes + maxRest
    for (let seen = -1; !done && (busy || bytes !== seen) && bytes < limit; ) {
      seen = bytes
      await within(quiet, finished)
      // After a pause of the whole machine the clock is looked at before the pipe.
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
