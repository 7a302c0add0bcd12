// Verifies ripgrep's matches. ripgrep opens files by name, and a link can be swapped in at that moment. So each shown
// file is opened again, refused if a link leads elsewhere, and compared up to the last shown line.
import { setImmediate } from "node:timers/promises"
import { cutMark } from "#knowledge/grounding/ripgrep.ts"
import type { Group } from "./grep-matches.ts"
import { openReal } from "./open-target.ts"
import { readChunk } from "./text-window.ts"

const chunkBytes = 1 << 16
/** ripgrep cuts lines long before this. */
const maxLine = 1 << 16
const filesAtOnce = 50

/** The groups whose lines are really in their files, below the folder at `root`. */
export async function verifyMatches(options: {
  root: string
  groups: Group[]
  signal: AbortSignal
}): Promise<Group[]> {
  const { root, groups, signal } = options
  const buffer = Buffer.allocUnsafe(chunkBytes)
  const good: Group[] = []
  for (const [i, group] of groups.entries()) {
    if (i % filesAtOnce === filesAtOnce - 1) await setImmediate(undefined, { signal })
    const wanted = byNumber(group.lines)
    using handle = wanted && openReal(root, group.file)
    if (!wanted || !handle?.stat.isFile()) continue
    if (await holds({ fd: handle.fd, wanted, buffer, signal })) good.push(group)
  }
  return good
}

/** Lines by number, from `12:text`, or `12-text` for context. Undefined if a line has no number, or one that came
 * before: such a group is dropped. */
function byNumber(lines: string[]): Map<number, string> | undefined {
  const found = new Map<number, string>()
  for (const line of lines) {
    if (line === "--") continue
    const [mark, digits] = /^(\d+)[:-]/.exec(line) ?? []
    if (mark === undefined || found.has(Number(digits))) return undefined
    found.set(Number(digits), line.slice(mark.length))
  }
  return found
}

async function holds(options: {
  fd: number
  wanted: Map<number, string>
  buffer: Buffer
  signal: AbortSignal
}): Promise<boolean> {
  const { fd, wanted, buffer, signal } = options
  const search = createSearch(wanted)
  let decoder: InstanceType<typeof TextDecoder> | undefined
  for (let position = 0; !search.isOver(); ) {
    signal.throwIfAborted()
    const size = await readChunk(fd, buffer, position)
    if (size === 0) return search.end()
    const bytes = buffer.subarray(0, size)
    const mark = position === 0 ? markOf(bytes) : undefined
    if (mark?.encoding) decoder = new TextDecoder(mark.encoding)
    position += size
    const text = bytes.subarray(mark?.length ?? 0)
    search.add(decoder ? Buffer.from(decoder.decode(text, { stream: true })) : text)
  }
  return search.end()
}

/** Compares the bytes of a file, in UTF-8, with the wanted lines. The memory of a chunk may be reused after `add`. */
function createSearch(wanted: ReadonlyMap<number, string>) {
  const last = Math.max(0, ...wanted.keys())
  let number = 1
  let kept: Buffer[] = []
  let size = 0
  let isWrong = false

  function add(chunk: Buffer) {
    let at = 0
    for (let end = chunk.indexOf(10); end >= 0 && !isOver(); end = chunk.indexOf(10, at)) {
      keep(chunk.subarray(at, end))
      endLine()
      at = end + 1
    }
    if (!isOver()) keep(chunk.subarray(at))
  }

  function keep(part: Buffer) {
    if (!part.length || size > maxLine || !wanted.has(number)) return
    // A copy: the chunk's memory is reused.
    kept.push(Buffer.from(part.subarray(0, maxLine)))
    size += part.length
  }

  function endLine() {
    const shown = wanted.get(number++)
    if (shown !== undefined) isWrong ||= !isShown(shown, Buffer.concat(kept).toString())
    kept = []
    size = 0
  }

  function isOver(): boolean {
    return isWrong || number > last
  }

  /** The last line of a file may have no line feed. */
  function end(): boolean {
    if (!isOver()) endLine()
    return isOver() && !isWrong
  }

  return Object.freeze({ add, isOver, end })
}

function isShown(shown: string, line: string): boolean {
  if (shown === line) return true
  const [one, other] = [plain(shown.replace(cutMark, "")), plain(line)]
  return cutMark.test(shown) ? other.startsWith(one.replace(/\ufffd$/, "")) : one === other
}

/** ripgrep and Node turn invalid bytes into a different number of replacement characters. */
function plain(text: string): string {
  return text.replaceAll(/\ufffd+/g, "\ufffd")
}

/** The length of a byte order mark, and the encoding that it names if that is not UTF-8. */
function markOf(bytes: Buffer): { length: number; encoding?: string } | undefined {
  const hex = bytes.toString("hex", 0, 3)
  if (hex === "efbbbf") return { length: 3 }
  if (hex.startsWith("fffe")) return { length: 2, encoding: "utf-16le" }
  return hex.startsWith("feff") ? { length: 2, encoding: "utf-16be" } : undefined
}
