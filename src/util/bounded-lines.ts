// Cuts a stream into lines and never holds more than one line of the given size. Of a longer line only the beginning
// and the end are kept, which show which request it answers.

export type Cut = { head: string; tail: string; bytes: number }

const edge = 256
const newline = 10

export function createBoundedLines(options: {
  limit: number
  onLine: (line: string) => void
  /** Called when a line longer than `limit` has ended. */
  onCut: (cut: Cut) => void
}): { push(chunk: Buffer): void; pending(): number } {
  let parts: Buffer[] = []
  let bytes = 0
  let head: Buffer | undefined
  let tail: Buffer = Buffer.alloc(0)

  const take = (part: Buffer) => {
    bytes += part.length
    if (head === undefined && bytes <= options.limit) return void parts.push(part)
    head ??= firstBytes([...parts, part])
    tail = lastBytes([tail, ...parts, part])
    parts = []
  }
  const finish = () => {
    if (head !== undefined)
      options.onCut({ head: head.toString("latin1"), tail: tail.toString("latin1"), bytes })
    else if (bytes > 0)
      options.onLine((parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8"))
    parts = []
    bytes = 0
    head = undefined
    tail = Buffer.alloc(0)
  }
  const push = (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      if (end > start) take(chunk.subarray(start, end))
      finish()
      start = end + 1
    }
    if (start < chunk.length) take(chunk.subarray(start))
  }
  return Object.freeze({ push, pending: () => bytes })
}

/** A copy, so that the chunks can be freed. */
function firstBytes(chunks: Buffer[]): Buffer {
  const taken: Buffer[] = []
  for (let bytes = 0, at = 0; bytes < edge && at < chunks.length; at++) {
    taken.push(chunks[at]!)
    bytes += chunks[at]!.length
  }
  return Buffer.from(Buffer.concat(taken).subarray(0, edge))
}

function lastBytes(chunks: Buffer[]): Buffer {
  const taken: Buffer[] = []
  for (let bytes = 0, at = chunks.length - 1; bytes < edge && at >= 0; at--) {
    taken.unshift(chunks[at]!.subarray(-edge))
    bytes += chunks[at]!.length
  }
  return Buffer.from(Buffer.concat(taken).subarray(-edge))
}
