// Converts the names of MCP servers, which can be any text, into ids.
import { createHash } from "node:crypto"
import { localId } from "./registry/local-tools.ts"

export { localId }

const maxHead = 55

/** Ids are parts of tool names and of rules, so they have no slash and no wildcard. */
export function idOf(name: string): string {
  return name.replace(/[^\w.-]+/g, "-").slice(0, 64)
}

/** The ids for a list of names. A name that is a valid id stays as it is. If the id would be unreadable, or two names
 * would have the same, it ends with a hash of the name, so that a name always has the same id. */
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
