// Where things are defined: lines that ripgrep finds, kept where the rules of their language say that they define
// something. Quick and without an index; a definition that is written in an unusual way is missed.
import { searchLines } from "./search-lines.ts"
import type { Found, Item } from "./source.ts"
import { keywords, rulesFor } from "./symbol-rules.ts"

/** `name` is a part of the symbol's name in any case; where it is empty, every symbol is meant. */
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
