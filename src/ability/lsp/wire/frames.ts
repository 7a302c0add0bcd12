// Reads the frames of a language server from its output: a header that tells the length, then JSON of that length. The
// reader never holds more than one message of the largest size.

/** Bytes of one message. */
const maxMessage = 32 << 20
/** Bytes before the end of a header. Some programs print a warning before the first one. */
const maxHeader = 8 << 10

export function createFrameReader(options: {
  onMessage: (message: Record<string, unknown>) => void
  /** The output cannot be read any further. */
  onBroken: (reason: string) => void
}): { push(chunk: Buffer): void } {
  let parts: Buffer[] = []
  let size = 0
  /** Bytes of the message whose header was read. */
  let expected: number | undefined
  let isBroken = false

  const fail = (reason: string) => {
    isBroken = true
    parts = []
    options.onBroken(reason)
  }
  const take = (bytes: number): Buffer => {
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    parts = bytes < all.length ? [all.subarray(bytes)] : []
    size -= bytes
    return all.subarray(0, bytes)
  }
  const readHeader = (): boolean => {
    const all = Buffer.concat(parts)
    parts = [all]
    const end = all.subarray(0, maxHeader + 4).indexOf("\r\n\r\n")
    if (end < 0) {
      if (size > maxHeader) fail(`it sent more than ${maxHeader} bytes without a header`)
      return false
    }
    const length = /content-length:[ \t]*(\d{1,15})[ \t]*(?:\r\n|$)/i.exec(take(end + 4).toString("latin1"))
    if (!length) fail("it sent a header without a length")
    else if (Number(length[1]) > maxMessage) fail(`it sent a message of ${length[1]} bytes`)
    else expected = Number(length[1])
    return !isBroken
  }
  const readMessage = (): boolean => {
    if (size < expected!) return false
    const text = take(expected!).toString("utf8")
    expected = undefined
    const message = parse(text)
    if (!message) fail("it sent a message that is not a JSON object")
    else options.onMessage(message)
    return !isBroken
  }

  const push = (chunk: Buffer) => {
    if (isBroken) return
    parts.push(chunk)
    size += chunk.length
    while (size > 0 && !isBroken && (expected === undefined ? readHeader() : readMessage()));
  }
  return Object.freeze({ push })
}

export function writeFrame(message: object): string {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message })
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
