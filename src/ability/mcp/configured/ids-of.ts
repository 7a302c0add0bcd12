// Ids for the names of one list, which may be written in any script. A name that is an id keeps it; of others that would
// meet it, or have nothing left that can be read, each has a sum at its end, the same every time.
import { createHash } from "node:crypto"
import { idOf } from "./load-servers.ts"

const maxHead = 55

export function idsOf(names: readonly string[]): Map<string, string> {
  const all = [...new Set(names)]
  const counts = new Map<string, number>()
  for (const id of all.map(idOf)) counts.set(id, (counts.get(id) ?? 0) + 1)
  return new Map(
    all.map((name) => {
      const id = idOf(name)
      const isClear = id === name || (counts.get(id) === 1 && /[a-z\d]/i.test(id))
      return [name, isClear ? id : apart(id, name)]
    }),
  )
}

function apart(id: string, name: string): string {
  const sum = createHash("sha256").update(name).digest("hex").slice(0, 8)
  return `${/[a-z\d]/i.test(id) ? id.slice(0, maxHead) : "server"}-${sum}`
}
