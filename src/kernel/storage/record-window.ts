// Reads records of one folder ahead, so that a history is not fetched message by message.
import type { Database } from "#kernel/database/database.ts"

type Row = { name: string; body: string }

const smallest = 8
const largest = 256

export type RecordWindow = Readonly<{
  /** The text of a record; null if there is none. */
  get(name: string): Promise<string | null>
}>

/** If the names are given they are fetched in their order. Otherwise each name may depend on the record before it; those
 * that sort before it come next most likely, because the ids of messages grow. */
export function createRecordWindow(
  database: Database,
  parent: string,
  names?: readonly string[],
): RecordWindow {
  let size = smallest
  let next = 0
  let rows = new Map<string, string>()
  let asked = new Set<string>()

  async function fetchGiven(all: readonly string[], name: string) {
    const at = all.indexOf(name, next)
    const wanted = all.slice(at, at + size)
    next = at
    asked = new Set(wanted)
    keep(
      await database.read<Row>({
        name: "read many",
        text: "select name, body from vitamin.record where parent = $1 and name = any($2::text[])",
        values: [parent, wanted],
      }),
    )
  }

  async function fetchBefore(name: string) {
    asked = new Set([name])
    keep(
      await database.read<Row>({
        name: "read back",
        text: "select name, body from vitamin.record where parent = $1 and name <= $2 order by name desc limit $3",
        values: [parent, name, size],
      }),
    )
  }

  function keep(found: Row[]) {
    rows = new Map(found.map(({ name, body }) => [name, body]))
    size = Math.min(size * 4, largest)
  }

  return Object.freeze({
    async get(name) {
      const known = rows.get(name)
      if (known !== undefined) return known
      if (asked.has(name)) return null
      await (names ? fetchGiven(names, name) : fetchBefore(name))
      return rows.get(name) ?? null
    },
  })
}
