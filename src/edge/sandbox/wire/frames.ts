// Frames on the pipe between a sandbox and its parent: four bytes of length, then JSON. The length is checked before
// anything is kept, so a giant frame costs nothing.
import type { Duplex } from "node:stream"
import { NamedError } from "#util/error.ts"
import { isTooComplex } from "./too-complex.ts"

/** A request to a model has the whole history and its images. */
export const maxFrame = 48 << 20
const headBytes = 4

export class BrokenFrame extends NamedError {
  constructor(reason: string) {
    super("Sandbox.BrokenFrame", `The other side of the sandbox's pipe sent ${reason}.`)
  }
}

/** Frames that are written in one go leave together: each write wakes the other side. */
export function writeFrame(stream: Duplex, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value))
  if (body.length > maxFrame)
    throw new NamedError(
      "Sandbox.TooLarge",
      `A message of ${body.length} bytes is too large for the pipe of the sandbox (at most ${maxFrame}).`,
    )
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32BE(body.length)
  stream.cork()
  stream.write(head)
  stream.write(body)
  process.nextTick(() => stream.uncork())
}

/** Returns a function that takes bytes and passes on the frames in them. It throws `BrokenFrame`. While `isHeld`, frames
 * wait for the next call. */
export function createFrameReader(
  take: (value: unknown, size: number) => void,
  isHeld: () => boolean,
): (bytes?: Buffer) => void {
  let waiting: Buffer[] = []
  let size = 0
  let wanted = headBytes
  let isHead = true

  function next(): Buffer | undefined {
    if (size < wanted || isHeld()) return undefined
    const all = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting)
    const found = all.subarray(0, wanted)
    const rest = all.subarray(wanted)
    waiting = rest.length ? [rest] : []
    size = rest.length
    return found
  }

  return (bytes) => {
    if (bytes) waiting.push(bytes)
    size += bytes?.length ?? 0
    for (let found = next(); found; found = next()) {
      if (isHead) {
        wanted = found.readUInt32BE()
        if (wanted > maxFrame) throw new BrokenFrame(`a frame of ${wanted} bytes`)
      } else {
        take(parse(found), wanted)
        wanted = headBytes
      }
      isHead = !isHead
    }
  }
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString()
  if (isTooComplex(text)) throw new BrokenFrame("a frame with too many values, or too deep ones")
  try {
    return JSON.parse(text)
  } catch {
    throw new BrokenFrame("a frame that is not JSON")
  }
}
