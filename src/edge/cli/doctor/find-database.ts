// The lines of `vitamin doctor` about the database, if one is named. What a server needs there is tried, and undone. The
// records that the other lines are about are then those of the database.
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { schemaName } from "#edge/cluster/engine-config.ts"
import type { Rights } from "#kernel/database/database.ts"
import * as Objects from "#kernel/objects/objects.ts"
import { errorText } from "#util/error.ts"
import type { Finding } from "./doctor.ts"

const about = "database"
const mostShown = 3

export async function findDatabase(address: string): Promise<Finding[]> {
  const { clockText, inspect } = await import("#kernel/database/database.ts")
  const found = await inspect(address, schemaName)
  const fleet = found.fleet === undefined ? "" : `, fleet ${found.fleet}`
  const server = `${found.shown}, PostgreSQL ${found.version}${fleet}`
  const clock: Finding[] = found.isClockWrong
    ? [{ state: "bad", about: "clock", text: `${clockText(found.ahead)}.` }]
    : []
  const rights = findRights(found)
  if (found.schema === undefined)
    return [
      ...clock,
      ...rights,
      { state: "note", about, text: `${server}: empty; the first server that starts creates the tables` },
    ]
  const tables = `tables of version ${found.schema}${found.schema < found.newest ? `; the next server that starts brings them to ${found.newest}` : ""}`
  if (found.schema >= found.newest)
    await (await import("#kernel/storage/use-database.ts")).useDatabase(address)
  const size = `${countOf(found.records ?? 0, "record")}, ${countOf(found.events ?? 0, "event")}, ${Math.ceil((found.bytes ?? 0) / 1e6)} MB`
  const line: Finding = { state: "ok", about, text: `${server}: ${size}, ${tables}` }
  return [...clock, ...rights, line, ...(await findObjects())]
}

function findRights({ shown, rights }: { shown: string; rights: Rights }): Finding[] {
  const { user, denied, isReader, grants } = rights
  if (!denied.length) return []
  const more = denied.length > mostShown ? `, and ${denied.length - mostShown} more` : ""
  const what = isReader ? "only read there" : `not ${denied.slice(0, mostShown).join(", ")}${more}`
  const text = `${shown}: the user ${user} may ${what}, so no server can work with it`
  return [{ state: "bad", about, text, todo: `as the owner of the database, in psql: ${grants.join("; ")}` }]
}

/** Where the bytes of objects are, and whether they can be reached. */
async function findObjects(): Promise<Finding[]> {
  const about = "objects"
  try {
    const objects = await Objects.shared()
    if (!objects) return []
    await objects.check()
    return [{ state: "ok", about, text: `snapshots, long outputs and images are in ${objects.shown}` }]
  } catch (error) {
    return [{ state: "bad", about, text: errorText(error) }]
  }
}
