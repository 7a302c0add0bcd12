// Ids of MCP servers. An id is a part of names and rules, while people and clients give servers any name.
import { createHash } from "node:crypto"
import { localId } from "./registry/local-tools.ts"

export { localId }

const maxHead = 55

/** An id is a part of names and rules: no slash, nothing that is a pattern. */
export function idOf(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").slice(0, 64)
}

/** Ids for the names of one list. A name that is an id keeps it. A name whose id would be unreadable, or that of another
 * name, gets a hash at its end, so that it has the same id every time. */
export function idsOf(names: readonly string[]): Map<string, string> {
  const all = [...new Set(names)]
  const counts = new Map<string, number>()
  for (const id of all.map(idOf)) counts.set(id, (counts.get(id) ?? 0) + 1)
  return new Map(
    all.map((name) => {
      const id = idOf(name)
      const isClear = id === name || (counts.get(id) === 1 && /[a-z\d]/i.test(id))
      return [name, isClear ? id : withHash(id, name)]
    }),
  )
}

function withHash(id: string, name: string): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8)
  return `${/[a-z\d]/i.test(id) ? id.slice(0, maxHead) : "server"}-${hash}`
}
