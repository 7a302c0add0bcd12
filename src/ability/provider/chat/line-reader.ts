// The `data:` lines of a server-sent event stream, out of bytes that may break anywhere. Some servers answer with one JSON
// object although a stream was asked for: that is the only piece of data.

export type LineReader = { add(bytes: Uint8Array): void; end(): void }

/** `take` gets the text behind `data:`; `whole` is false for a last line that nobody ended. A line of more than `limit`
 * characters throws `error()`. */
export function createLineReader(options: {
  take: (data: string, whole: boolean) => void
  limit: number
  error: () => Error
}): LineReader {
  const { take, limit, error } = options
  const decoder = new TextDecoder()
  let rest = ""
  let isJson: boolean | undefined

  function line(text: string, whole: boolean) {
    if (!text.startsWith("data:")) return
    const data = text.slice(text.charCodeAt(5) === 32 ? 6 : 5).trimEnd()
    if (data) take(data, whole)
  }

  function read(text: string) {
    const first = isJson === undefined ? /\S/.exec(text)?.[0] : undefined
    if (first) isJson = first === "{"
    let from = 0
    for (let to = isJson ? -1 : text.indexOf("\n"); to >= 0; to = text.indexOf("\n", from)) {
      // Only the new text is searched: a long line that comes in many pieces is put together once.
      line(rest ? rest + text.slice(from, to) : text.slice(from, to), true)
      rest = ""
      from = to + 1
    }
    rest += from ? text.slice(from) : text
    if (rest.length > limit) throw error()
  }

  return Object.freeze({
    add: (bytes: Uint8Array) => read(decoder.decode(bytes, { stream: true })),
    end() {
      read(decoder.decode())
      if (isJson) take(rest, true)
      else line(rest, false)
      rest = ""
    },
  })
}
