// Lines of files that fit a regular expression, in order of path and line.
import { NamedError } from "#util/error.ts"
import * as Ripgrep from "./ripgrep.ts"
import type { Found, Item } from "./source.ts"

/** So many lines have been seen that the search is not worth its end. */
const maxSeen = 200_000
const maxColumns = 300

class BadSearch extends NamedError {
  constructor(pattern: string, reason: string) {
    super("Grounding.BadSearch", `The search for ${JSON.stringify(pattern)} failed: ${reason}`, { pattern })
  }
}

/** `take` makes of a line what is given out, or nothing. */
export async function searchLines(options: {
  cwd: string
  /** Instead of the folder one file, which is open: its name may lead elsewhere by now. */
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
