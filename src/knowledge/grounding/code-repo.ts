// The files of a folder as ripgrep sees them: what ignore files leave out is not there, nor is what hides behind a dot.
// Nothing is indexed; every answer is as fresh as the disk.
import { describeFiles } from "./describe-files.ts"
import { listFiles } from "./list-files.ts"
import { searchLines } from "./search-lines.ts"
import { type Found, type Item, isUnder, type Query, type Source } from "./source.ts"
import { keywords, rulesFor } from "./symbol-rules.ts"

export type CodeSearch = Query & {
  /** A regular expression for the lines; of symbols, a part of their name (any where it is left out). */
  text?: string | undefined
  kind?: "line" | "symbol" | undefined
  /** Only in this file, which is open. */
  file?: { fd: number; name: string } | undefined
}
export type CodeRepo = Source<CodeSearch>

const defaultLimit = 100

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

/** Where things are defined: lines that ripgrep finds, kept where the rules of their language say that they define
 * something. Quick and without an index; a definition that is written in an unusual way is missed. `name` is a part
 * of the symbol's name in any case; where it is empty, every symbol is meant. */
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
