// Parses server-sent events from pieces of text. Lines may end with LF, CRLF or CR, also between two pieces.

export type SseBlock = { id?: string; data?: string }

/** `add` returns the blocks that are complete. */
export function createSseParser(): { add(text: string): SseBlock[] } {
  let rest = ""
  let block: SseBlock = {}
  let isEmpty = true

  function take(line: string, done: SseBlock[]) {
    if (line === "") {
      if (!isEmpty) done.push(block)
      block = {}
      isEmpty = true
      return
    }
    const at = line.indexOf(":")
    const field = at < 0 ? line : line.slice(0, at)
    const value = at < 0 ? "" : line.slice(line[at + 1] === " " ? at + 2 : at + 1)
    if (field === "id") block.id = value
    else if (field === "data") block.data = block.data === undefined ? value : `${block.data}\n${value}`
    else return
    isEmpty = false
  }

  return {
    add(text) {
      const done: SseBlock[] = []
      rest += text
      let start = 0
      const lineEnd = /\r\n|\n|\r/g
      for (let end = lineEnd.exec(rest); end; end = lineEnd.exec(rest)) {
        // The LF of a CRLF may be in the next piece.
        if (end[0] === "\r" && lineEnd.lastIndex === rest.length) break
        take(rest.slice(start, end.index), done)
        start = lineEnd.lastIndex
      }
      rest = rest.slice(start)
      return done
    },
  }
}
