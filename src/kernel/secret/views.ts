// Other readings of a text, in which encoded secrets are found however they are wrapped: the characters of base64 or of hex
// without what separates them, and the text with its URL encoding undone. Each character knows its place in the text.

export type View = {
  text: string
  /** By character: where it begins and ends in the text. */
  starts: Int32Array
  ends: Int32Array
}

const other = 0
const separator = 1
const backslash = 92
const [zero, percent] = [48, 37]
/** Takes the place of what belongs to no encoding. */
const gap = 10

const base64 = tableOf(" \t\r\n\\", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
base64[45] = 43 // base64url
base64[95] = 47
/** Also "0x41, 0x42", "\x41\x42", "41:42" and "41-42". */
const hex = tableOf(" \t\r\n\\:,-xX", "0123456789abcdef")
for (const letter of "ABCDEF") hex[letter.charCodeAt(0)] = letter.toLowerCase().charCodeAt(0)

/** The characters of base64, those of base64url turned into them. */
export function asBase64(text: string): View {
  return squeeze(text, base64)
}

/** The digits of hex, in lower case. */
export function asHex(text: string): View {
  return squeeze(text, hex)
}

/** With `%41` as the byte it stands for; undefined if there is none. An escape that is cut off at the end is left out. */
export function withoutPercent(text: string): View | undefined {
  if (!text.includes("%") || !/%(?:[\da-f]{2}|[\da-f]?$)/i.test(text)) return undefined
  const codes = new Uint16Array(text.length)
  const [starts, ends] = [new Int32Array(text.length), new Int32Array(text.length)]
  const length = text.length - (/%[\da-f]?$/i.exec(text)?.[0].length ?? 0)
  let size = 0
  for (let at = 0; at < length; size++) {
    const code = text.charCodeAt(at)
    const byte = code === percent ? byteAt(text, at + 1) : -1
    starts[size] = at
    codes[size] = byte < 0 ? code : byte
    at += byte < 0 ? 1 : 3
    ends[size] = at
  }
  const bytes = Buffer.from(codes.buffer, 0, size * 2)
  return { text: bytes.toString("utf16le"), starts, ends }
}

function tableOf(separators: string, letters: string): Uint8Array {
  const table = new Uint8Array(128)
  for (const letter of separators) table[letter.charCodeAt(0)] = separator
  for (const letter of letters) table[letter.charCodeAt(0)] = letter.charCodeAt(0)
  return table
}

function squeeze(text: string, table: Uint8Array): View {
  const codes = Buffer.allocUnsafe(text.length)
  const [starts, ends] = [new Int32Array(text.length), new Int32Array(text.length)]
  let size = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const known = code < 128 ? table[code]! : other
    if (known === separator) {
      // A line break inside of JSON.
      if (code === backslash && isBreakLetter(text.charCodeAt(at + 1))) at++
      continue
    }
    if (known === other && (size === 0 || codes[size - 1] === gap)) continue
    if (code === zero && table === hex && (text.charCodeAt(at + 1) | 32) === 120) continue
    codes[size] = known === other ? gap : known
    starts[size] = at
    ends[size++] = at + 1
  }
  return { text: codes.toString("latin1", 0, size), starts, ends }
}

/** n, r, t */
function isBreakLetter(code: number): boolean {
  return code === 110 || code === 114 || code === 116
}

/** -1 if the two characters are no hex. */
function byteAt(text: string, at: number): number {
  const [high, low] = [digit(text.charCodeAt(at)), digit(text.charCodeAt(at + 1))]
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function digit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
