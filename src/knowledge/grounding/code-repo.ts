// The files of a folder as ripgrep sees them: what ignore files leave out is not there, nor is what hides behind a dot.
// Nothing is indexed; every answer is as fresh as the disk.
import { describeFiles } from "./describe-files.ts"
import { findSymbols } from "./find-symbols.ts"
import { listFiles } from "./list-files.ts"
import { searchLines } from "./search-lines.ts"
import { isUnder, type Query, type Source } from "./source.ts"

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
