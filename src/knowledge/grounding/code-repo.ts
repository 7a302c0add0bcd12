// Searches the files of a folder with ripgrep, without ignored and hidden files. There is no index: every answer is as
// fresh as the disk.
import { NamedError } from "#util/error.ts"
import { describeFiles, listFiles } from "./list-files.ts"
import * as Ripgrep from "./ripgrep.ts"
import { type Found, type Item, isUnder, type Query, type Source } from "./source.ts"
import { keywords, rulesFor } from "./symbol-rules.ts"

export type CodeSearch = Query & {
  /** A regular expression for lines; for symbols, a part of their name. Default: all symbols. */
  text?: string | undefined
  kind?: "line" | "symbol" | undefined
  /** Search only this open file. */
  file?: { fd: number; name: string } | undefined
}
export type CodeRepo = Source<CodeSearch>

const defaultLimit = 100

/** A search ends after this many lines. */
const maxSeen = 200_000
const maxColumns = 300

class BadSearch extends NamedError {
  constructor(pattern: string, reason: string) {
    super("Grounding.BadSearch", `The search for ${JSON.stringify(pattern)} failed: ${reason}`, { pattern })
  }
}

/** Links are not followed, so that nothing outside of `root` is reached. */
export function createCodeRepo(root: string): CodeRepo {
  const options = ({ under, accepts, limit = defaultLimit, signal }: Query) => ({
    cwd: root,
    limit,
    signal,
    accepts: (name: string) => isUnder(name, under) && (accepts?.(name) ?? true),
  })
  return Object.freeze({
    describe: (query: Query = {}) => describeFiles(options(query)),
    list: (query: Query = {}) => listFiles(options(query)),
    search: ({ text = "", kind = "line", file, ...query }: CodeSearch) =>
      kind === "symbol"
        ? findSymbols({ ...options(query), file, name: text })
        : searchLines({ ...options(query), file, pattern: text }),
  })
}

/** Finds definitions: lines that ripgrep finds and that the rules of their language accept as a definition. Unusual forms
 * are missed. `name` is a part of the name of a symbol, in any case; an empty one matches every symbol. */
export function findSymbols(options: {
  cwd: string
  file?: { fd: number; name: string } | undefined
  name: string
  limit: number
  accepts(file: string): boolean
  signal?: AbortSignal | undefined
}): Promise<Found> {
  const { name, accepts, ...rest } = options
  const wanted = name.toLowerCase()
  const take = (item: Item) => {
    for (const { kind, form } of rulesFor(item.name)) {
      const symbol = form.exec(item.text)?.groups?.name
      if (symbol?.toLowerCase().includes(wanted)) return { ...item, kind }
    }
    return undefined
  }
  return searchLines({
    ...rest,
    pattern: name ? `(?i)${literal(name)}` : keywords,
    accepts: (file) => rulesFor(file).length > 0 && accepts(file),
    take,
  })
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&")
}

/** The lines that match, in order of path and line. `take` turns a line into an item, or drops it. */
async function searchLines(options: {
  cwd: string
  /** Search this open file, not the folder. It is read through `fd`, because another file may have its name by now. */
  file?: { fd: number; name: string } | undefined
  pattern: string
  limit: number
  accepts(file: string): boolean
  take?: (item: Item) => Item | undefined
  signal?: AbortSignal | undefined
}): Promise<Found> {
  const { cwd, file, pattern, limit, accepts, take = (item) => item, signal } = options
  if (pattern.includes("\0")) throw new BadSearch(pattern, "it has a NUL character")
  let items: Item[] = []
  let [seen, total] = [0, 0]
  const trim = () => {
    items = items.sort(inOrder).slice(0, limit)
  }
  const { code, errors, timedOut } = await Ripgrep.run({
    args: [...Ripgrep.linesOf(maxColumns), `--regexp=${pattern}`, file ? "-" : "."],
    cwd,
    separator: "\n",
    ...(file ? { stdin: file.fd } : {}),
    ...(signal ? { signal } : {}),
    onPiece: (piece) => {
      const item = itemOf(piece, file?.name)
      const taken = item && accepts(item.name) ? take(item) : undefined
      if (taken) {
        total++
        items.push(taken)
        if (items.length >= 8 * limit + 1_000) trim()
      }
      return ++seen < maxSeen
    },
  })
  if (code === 2 && errors) throw new BadSearch(pattern, errors.trim())
  trim()
  return { items, more: total > limit || code === undefined, ...(timedOut ? { timedOut } : {}) }
}

/** `./path NUL 12:text` */
function itemOf(piece: string, file: string | undefined): Item | undefined {
  const nul = piece.indexOf("\0")
  const colon = piece.indexOf(":", nul)
  if (nul < 0 || colon < 0) return undefined
  const name = file ?? piece.slice(piece.startsWith("./") ? 2 : 0, nul)
  return { name, line: Number(piece.slice(nul + 1, colon)), text: piece.slice(colon + 1) }
}

function inOrder(a: Item, b: Item): number {
  return a.name === b.name ? a.line! - b.line! : a.name < b.name ? -1 : 1
}
