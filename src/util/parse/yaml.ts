// Parses YAML strictly: duplicate keys, too many aliases and all errors are refused with their place. The package
// `yaml` has no tags that run code, but its check for duplicate keys takes quadratic time, so we check them ourselves.
import { isUtf8 } from "node:buffer"
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit, type YAMLMap } from "yaml"
import { NamedError } from "#util/error.ts"
import type { Path, Place } from "./jsonc.ts"

export type Yaml = { value: unknown; locate: (path: Path) => Place }

/** More than a person needs, and too little for a bomb: the package takes microseconds per character. */
const maxAliases = 20
const maxLength = 128 << 10
const tooMany = `more than ${maxAliases} aliases (*name)`

export class YamlError extends NamedError {
  declare readonly data: { source: string; line: number; column: number }
  /** What is wrong, without the place. */
  readonly reason: string

  constructor(source: string, place: Place, reason: string) {
    super("YamlError", `${source}:${place.line}:${place.column}: ${reason}`, { source, ...place })
    this.reason = reason
  }
}

/** Parses one document. `locate` returns the place of a key or list item, or of its nearest existing parent;
 * `firstLine` is the line of its file at which the text begins. */
export function parseYaml(text: string, source: string, firstLine = 1): Yaml {
  const lines = new LineCounter()
  const placeOf = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) }
  }
  const fail = (offset: number, reason: string): never => {
    throw new YamlError(source, placeOf(offset), reason)
  }
  if (text.length > maxLength)
    fail(0, `${text.length} characters of YAML are too many; the limit is ${maxLength}`)
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) fail(problem.pos[0], reasonOf(problem.message))
  let aliases = 0
  visit(document, {
    Map: (_, map) => refuseDoubled(map, fail),
    // Counted before they are resolved: resolving each one scans from the beginning.
    Alias: (_, { range }) => {
      if (++aliases > maxAliases) fail(range?.[0] ?? 0, tooMany)
    },
  })
  return {
    value: plainValue(() => document.toJS({ maxAliasCount: maxAliases }), fail),
    locate: (path) => placeOf(offsetOf(document.contents, path)),
  }
}

/** The text of a file, without a byte order mark, with "\n" as the line end. */
export function decodeText(bytes: Uint8Array, source: string): string {
  if (!isUtf8(bytes)) throw new YamlError(source, { line: 1, column: 1 }, "the file is not valid UTF-8")
  return new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, "\n")
}

function refuseDoubled(map: YAMLMap, fail: (offset: number, reason: string) => never): void {
  const seen = new Set<string>()
  for (const { key } of map.items) {
    const name = isScalar(key) ? String(key.value) : String(key)
    const offset = (key as Node).range?.[0] ?? 0
    if (seen.has(name)) fail(offset, `the key ${JSON.stringify(name.slice(0, 80))} is there twice`)
    seen.add(name)
  }
}

function plainValue(read: () => unknown, fail: (offset: number, reason: string) => never): unknown {
  try {
    return read()
  } catch (error) {
    // The package throws this for too many aliases, and for one without an anchor.
    if (!(error instanceof ReferenceError)) throw error
    return fail(0, error.message.startsWith("Excessive") ? tooMany : error.message)
  }
}

function reasonOf(message: string): string {
  if (message.startsWith("Maximum call stack")) return "nested too deep"
  if (message.startsWith("Source contains multiple documents"))
    return 'one document is expected; "---" begins a second'
  return message
}

function offsetOf(root: unknown, path: Path): number {
  let node = root
  let offset = (root as Node | null)?.range?.[0] ?? 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (!pair) break
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined
      if (!item) break
      offset = item.range?.[0] ?? offset
      node = item
    } else break
  }
  return offset
}
