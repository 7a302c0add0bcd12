// Copies the shared records of one store to another, and then compares them one by one. A copy that was interrupted is
// continued by running it again: records that are equal are left alone.
import { type Database, open } from "#kernel/database/database.ts"
import { NamedError } from "#util/error.ts"
import type { Key } from "./errors.ts"
import * as RecordFiles from "./record-files.ts"
import { createRecordTables } from "./record-tables.ts"
import { isOfMachine } from "./shared-records.ts"
import type { Backend } from "./storage.ts"

type Copied = { records: number; written: number; quarantined: number }

class Differs extends NamedError {
  constructor(key: Key, reason: string) {
    super("Storage.Differs", `Record ${key.join("/")} ${reason}`, { key })
  }
}

/** Records of this many keys are read together. */
const atOnce = 100

/** `files`, or the address of a database. */
export async function openRecords(place: string): Promise<{ records: Backend; database?: Database }> {
  if (place === "files") return { records: RecordFiles }
  const database = await open(place)
  return { records: createRecordTables(database), database }
}

/** The sessions that have a record: each with the project that it is filed under. */
export async function* sessionsIn(backend: Backend): AsyncGenerator<{ id: string; projectId: string }> {
  for (const projectId of await backend.list(["session"]))
    for (const id of await backend.list(["session", projectId])) yield { id, projectId }
}

export async function copyRecords(
  from: Backend,
  to: Backend,
  copied: (records: number) => void,
): Promise<Copied> {
  const total = { records: 0, written: 0, quarantined: (await from.quarantined([])).length }
  for await (const { key, text } of walk(from)) {
    total.records += key.length
    const before = await textsOf(to, key)
    const changed = key.filter((_, i) => before[i] !== text[i])
    await Promise.all(changed.map((one) => to.write(one, JSON.parse(text[key.indexOf(one)]!))))
    total.written += changed.length
    copied(total.records)
  }
  await compare(from, to)
  return total
}

/** Refuses a target that has another value for a record, or records that the source does not have. */
export async function refuseOtherRecords(from: Backend, to: Backend) {
  for await (const { key, text } of walk(to)) {
    const source = await textsOf(from, key)
    const other = key.findIndex((_, i) => source[i] !== text[i])
    if (other >= 0)
      throw new Differs(
        key[other]!,
        `is in the target, and ${source[other] === undefined ? "not in the source" : "differs from the source"}. To copy all the same, say --overwrite: records of the source replace it, others stay`,
      )
  }
}

/** Reads everything again, on both sides. */
async function compare(from: Backend, to: Backend) {
  for await (const { key, text } of walk(from)) {
    const copy = await textsOf(to, key)
    const other = key.findIndex((_, i) => copy[i] !== text[i])
    if (other >= 0)
      throw new Differs(
        key[other]!,
        `${copy[other] === undefined ? "is missing in the copy" : "differs in the copy"}: does a server still write? Stop it and copy again`,
      )
  }
}

/** All records, some at a time. A key may be a record and have others below it. */
async function* walk(backend: Backend, prefix: Key = []): AsyncGenerator<{ key: Key[]; text: string[] }> {
  const names = (await backend.list(prefix)).filter((name) => prefix.length || !isOfMachine(name))
  for (let at = 0; at < names.length; at += atOnce) {
    const keys = names.slice(at, at + atOnce).map((name) => [...prefix, name])
    const texts = await textsOf(backend, keys)
    const found = keys.filter((_, i) => texts[i] !== undefined)
    if (found.length) yield { key: found, text: texts.filter((text) => text !== undefined) }
    const below = await Promise.all(keys.map((key) => backend.list(key)))
    for (const [i, key] of keys.entries()) if (below[i]!.length) yield* walk(backend, key)
  }
}

/** Undefined if there is none, or it is broken: then it is quarantined now. */
function textsOf(backend: Backend, keys: readonly Key[]): Promise<(string | undefined)[]> {
  return Promise.all(
    keys.map((key) =>
      backend.read(key).then(
        (value) => JSON.stringify(value),
        (error: Error) => {
          if (error.name === "Storage.NotFound" || error.name === "Storage.Corrupt") return undefined
          throw error
        },
      ),
    ),
  )
}
