// The line of `vitamin doctor` about the database, if one is named. It creates nothing there. The records that the other
// lines are about are then those of the database.
import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Objects from "#kernel/objects/objects.ts"
import { errorText } from "#util/error.ts"
import type { Finding } from "./doctor.ts"

const about = "database"

export async function findDatabase(address: string): Promise<Finding[]> {
  const { clockText, inspect } = await import("#kernel/database/database.ts")
  const found = await inspect(address)
  const fleet = found.fleet === undefined ? "" : `, fleet ${found.fleet}`
  const server = `${found.shown}, PostgreSQL ${found.version}${fleet}`
  const clock: Finding[] = found.isClockWrong
    ? [{ state: "bad", about: "clock", text: `${clockText(found.ahead)}.` }]
    : []
  if (found.schema === undefined)
    return [
      ...clock,
      { state: "note", about, text: `${server}: empty; the first server that starts creates the tables` },
    ]
  const tables = `tables of version ${found.schema}${found.schema < found.newest ? `; the next server that starts brings them to ${found.newest}` : ""}`
  if (found.schema >= found.newest)
    await (await import("#kernel/storage/use-database.ts")).useDatabase(address)
  const size = `${countOf(found.records ?? 0, "record")}, ${countOf(found.events ?? 0, "event")}, ${Math.ceil((found.bytes ?? 0) / 1e6)} MB`
  return [...clock, { state: "ok", about, text: `${server}: ${size}, ${tables}` }, ...(await findObjects())]
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
