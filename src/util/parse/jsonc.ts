// Parses JSON with comments and trailing commas strictly: duplicate keys, dangerous keys and all errors are refused with
// their place. jsonc-parser recurses, so depth is checked first. Files of untrusted folders are read before each command,
// so size and number of values are limited.
import { isUtf8 } from "node:buffer"
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser"
import { NamedError } from "#util/error.ts"

export type Path = readonly (string | number)[]
export type Place = { line: number; column: number }
export type Jsonc = { value: Record<string, unknown>; locate: (path: Path) => Place }

const maxBytes = 1 << 20
const maxDepth = 200
/** Every value is checked, merged and traced to its layer, which takes some 30 µs. */
const maxValues = 10_000

export class JsoncError extends NamedError {
  declare readonly data: { source: string; line: number; column: number }
  /** What is wrong, without the place. */
  readonly reason: string

  constructor(source: string, place: Place, reason: string) {
    super("JsoncError", `${source}:${place.line}:${place.column}: ${reason}`, { source, ...place })
    this.reason = reason
  }
}

/** `locate` returns the place of a key or list item, or of its nearest existing parent. */
export function parseJsonc(bytes: Uint8Array | string, source: string): Jsonc {
  const text = decode(bytes, source)
  const fail = (offset: number, reason: string): never => {
    throw new JsoncError(source, placeAt(text, offset), reason)
  }
  const nul = text.indexOf("\0")
  if (nul >= 0) fail(nul, "a NUL character is not allowed")
  checkShape(text, fail)
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const first = errors[0]
  if (!root && first?.offset === text.length && errors.length === 1)
    fail(0, "the file is empty; write {} for no settings")
  if (first) fail(first.offset, syntaxReason(first))
  if (root?.type !== "object")
    return fail(root?.offset ?? 0, `an object { … } is expected, not ${root?.type ?? "nothing"}`)
  return {
    value: toValue(root, text, fail) as Record<string, unknown>,
    locate: (path) => placeAt(text, offsetOf(root, path)),
  }
}

function decode(bytes: Uint8Array | string, source: string): string {
  const size = typeof bytes === "string" ? Buffer.byteLength(bytes) : bytes.byteLength
  if (size > maxBytes)
    throw new JsoncError(
      source,
      { line: 1, column: 1 },
      `${size} bytes are too many; the limit is ${maxBytes}`,
    )
  if (typeof bytes === "string") return bytes.startsWith("\ufeff") ? bytes.slice(1) : bytes
  if (!isUtf8(bytes)) throw new JsoncError(source, firstInvalidByte(bytes), "the file is not valid UTF-8")
  return new TextDecoder().decode(bytes)
}

/** A replacement character in the lossy text is the bad place, unless the file really has that character there. */
function firstInvalidByte(bytes: Uint8Array): Place {
  const lossy = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  let byte = 0
  let at = 0
  for (let next = lossy.indexOf("\ufffd"); next >= 0; next = lossy.indexOf("\ufffd", at)) {
    byte += Buffer.byteLength(lossy.slice(at, next))
    if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd)
      return placeAt(lossy, next)
    byte += 3
    at = next + 1
  }
  return { line: 1, column: 1 }
}

function checkShape(text: string, fail: (offset: number, reason: string) => never) {
  const scanner = createScanner(text, true)
  let depth = 0
  let values = 0
  while (scanner.getPosition() < text.length) {
    scanner.scan()
    if (scanner.getTokenLength() !== 1) continue
    const token = text[scanner.getTokenOffset()]
    if (token === "{" || token === "[") depth++
    else if (token === "}" || token === "]") depth--
    // What follows an opening bracket or a comma is a value.
    if (token === "{" || token === "[" || token === ",") values++
    if (values > maxValues) fail(scanner.getTokenOffset(), `there are more than ${maxValues} values`)
    if (depth > maxDepth) fail(scanner.getTokenOffset(), `nested deeper than ${maxDepth} levels`)
  }
}

const reasons: Record<string, string> = {
  InvalidSymbol: "this is not JSON; keys and strings need double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "a key in double quotes is expected",
  ValueExpected: "a value is expected",
  ColonExpected: 'a ":" is expected after the key',
  CommaExpected: 'a "," is expected',
  CloseBraceExpected: 'a closing "}" is expected; the file may be cut off',
  CloseBracketExpected: 'a closing "]" is expected; the file may be cut off',
  EndOfFileExpected: 'nothing may follow the closing "}"',
  UnexpectedEndOfComment: "the comment is not closed",
  UnexpectedEndOfString: "the string is not closed",
  UnexpectedEndOfNumber: "the number is not complete",
  InvalidUnicode: "the \\u escape needs four hexadecimal digits",
  InvalidEscapeCharacter: "this escape is unknown; a backslash is written as two",
  InvalidCharacter: "control characters in a string must be escaped",
}

function syntaxReason(error: ParseError): string {
  const code = printParseErrorCode(error.error)
  return reasons[code] ?? code
}

function toValue(node: Node, text: string, fail: (offset: number, reason: string) => never): unknown {
  if (node.type === "array") return (node.children ?? []).map((item) => toValue(item, text, fail))
  if (node.type !== "object") return node.value
  const seen = new Map<string, number>()
  const value: Record<string, unknown> = {}
  for (const property of node.children ?? []) {
    const [name, content] = property.children as [Node, Node]
    const key = name.value as string
    if (key === "__proto__") fail(name.offset, 'the key "__proto__" is not allowed')
    const before = seen.get(key)
    if (before !== undefined) {
      const { line, column } = placeAt(text, before)
      fail(name.offset, `the key ${JSON.stringify(key.slice(0, 80))} is already at ${line}:${column}`)
    }
    seen.set(key, name.offset)
    value[key] = toValue(content, text, fail)
  }
  return value
}

function offsetOf(root: Node, path: Path): number {
  let node = root
  let offset = root.offset
  for (const step of path) {
    const member =
      node.type === "array"
        ? node.children?.[Number(step)]
        : node.children?.find((property) => property.children?.[0]?.value === step)
    if (!member) break
    offset = member.offset
    node = member.type === "property" ? member.children![1]! : member
  }
  return offset
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: before.length, column: before.at(-1)!.length + 1 }
}
