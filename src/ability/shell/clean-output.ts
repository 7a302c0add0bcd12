// Cleans the output of a program for a model: no escape sequences, no control characters, and only the last state of
// a line that was redrawn (a progress bar). Works on bytes, so that a character that a read cuts in two stays whole. Colours
// are reported beside the text.

export type Cleaner = {
  /** The clean part so far. A line without its end is held back, because it may be redrawn. */
  write(chunk: Buffer): Buffer[]
  /** The line that was held back. */
  flush(): Buffer[]
}

/** Gets the styles of the text, by their places in the clean bytes. */
type Styles = {
  /** A style begins, with the parameters of its sequence. */
  add(at: number, parameters: string): void
  /** The output behind this place is dropped, and written again. */
  rewind(at: number): void
}

const maxLine = 8_192
/** Longer than any title or link: not a real escape sequence. */
const maxSequence = 4_096
const [bell, backspace, tab, newline, carriage, esc, space, del] = [7, 8, 9, 10, 13, 27, 32, 127] as const
/** The last byte of a sequence that sets a style: `m`. */
const sgr = 0x6d

/** A cleaner for one stream. */
export function createCleaner(styles?: Styles): Cleaner {
  let line: Buffer = Buffer.alloc(0)
  /** Clean bytes before the line. */
  let passed = 0
  let parameters = ""
  /** The parameters of a style that begins here. */
  let style: string | undefined
  let state: "text" | "escape" | "csi" | "string" | "string-end" = "text"
  let returned = false
  /** A part of the current line was already passed on. */
  let given = false
  let sequence = 0

  function write(chunk: Buffer): Buffer[] {
    return pass(clean(chunk))
  }

  function pass(pieces: Buffer[]): Buffer[] {
    for (const { length } of pieces) passed += length
    return pieces
  }

  function clean(chunk: Buffer): Buffer[] {
    if (state !== "text" || returned || !isPlain(chunk)) return cleanSlowly(chunk)
    const end = chunk.lastIndexOf(newline) + 1
    if (end === 0) return hold(Buffer.concat([line, chunk]))
    const whole = line.length ? [line, chunk.subarray(0, end)] : [chunk.subarray(0, end)]
    given = false
    return [...whole, ...hold(Buffer.from(chunk.subarray(end)))]
  }

  function cleanSlowly(chunk: Buffer): Buffer[] {
    const out = Buffer.allocUnsafe(line.length + 2 * chunk.length)
    let end = line.copy(out)
    let start = 0
    /** The line is redrawn; a part that was already passed on stays as a line of its own. */
    const redraw = () => {
      if (given) out[end++] = newline
      if (given) start = end
      end = start
      returned = given = false
      styles?.rewind(passed + end)
    }
    for (const byte of chunk) {
      if (state !== "text" && !isText(byte)) {
        if (style !== undefined) styles?.add(passed + end, style)
        style = undefined
        continue
      }
      if (byte === newline) {
        out[end++] = newline
        start = end
        returned = given = false
      } else if (byte === carriage) returned = true
      else if (byte === esc) {
        state = "escape"
        sequence = 0
      } else if (byte === backspace) {
        end = before(out, start, end)
        styles?.rewind(passed + end)
      } else if (isPrinted(byte)) {
        if (returned) redraw()
        out[end++] = byte
      }
    }
    const rest = hold(Buffer.from(out.subarray(start, end)))
    return start > 0 ? [out.subarray(0, start), ...rest] : rest
  }

  /** Consumes an escape sequence; true for a byte that is text again. */
  function isText(byte: number): boolean {
    if (++sequence > maxSequence || byte === newline) state = "text"
    else if (state === "string") {
      if (byte === bell) state = "text"
      else if (byte === esc) state = "string-end"
      return false
    } else if (state === "string-end") {
      state = byte === 0x5c ? "text" : "string"
      return false
    } else if (byte === esc) return true
    else if (state === "csi") {
      if (byte >= 0x40 && byte <= 0x7e) {
        state = "text"
        if (byte === sgr) style = parameters
      } else parameters += String.fromCharCode(byte)
      return false
    } else {
      parameters = ""
      if (byte === 0x5b) state = "csi"
      else if ("]PX^_".includes(String.fromCharCode(byte))) state = "string"
      else if (byte >= 0x30 || byte < space) state = "text"
      return false
    }
    return true
  }

  function hold(rest: Buffer): Buffer[] {
    line = rest
    if (line.length <= maxLine) return []
    const end = wholeCharacters(line)
    const out = line.subarray(0, end)
    line = Buffer.from(line.subarray(end))
    given = true
    return [out]
  }

  function flush(): Buffer[] {
    const out = line
    line = Buffer.alloc(0)
    if (out.length) given = true
    return pass(out.length ? [out] : [])
  }

  return Object.freeze({ write, flush })
}

function isPlain(chunk: Buffer): boolean {
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at]!
    if (byte !== newline && !isPrinted(byte)) return false
  }
  return true
}

function isPrinted(byte: number): boolean {
  return (byte >= space && byte !== del) || byte === tab
}

/** Where the last character of a line begins. */
function before(out: Buffer, start: number, end: number): number {
  if (end > start) end--
  while (end > start && (out[end]! & 0xc0) === 0x80) end--
  return end
}

/** Up to the last byte that begins a character: that one may be incomplete. */
function wholeCharacters(line: Buffer): number {
  let end = line.length
  while (end > line.length - 4 && (line[end - 1]! & 0xc0) === 0x80) end--
  return line[end - 1]! >= 0xc0 ? end - 1 : line.length
}
