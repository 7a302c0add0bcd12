// The records of storage.ts in a PostgreSQL database, which several servers share.
import type { Database } from "#kernel/database/database.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { errorText } from "#util/error.ts"
import { Corrupt, joinPath, type Key, NotFound, pathOf, splitPath } from "./errors.ts"
import { headBytes, isJson, parseQuarantined, type Quarantined } from "./files.ts"
import { createRecordWindow } from "./record-window.ts"
import type { Backend } from "./storage.ts"
import { parse, serialize } from "./store.ts"
import { createTableWriter, type TableChange } from "./table-writer.ts"
import { updateRecord } from "./update-record.ts"

type Row = { parent: string; name: string; body: string }

/** A text that sorts behind every path. */
const last = "\u{10ffff}".repeat(60)
const checkedAtOnce = 500

export function createRecordTables(database: Database): Backend {
  const writer = createTableWriter(database.connect())
  /** Changes that are on their way, by path. */
  const changing = new Map<string, Promise<void>>()
  /** The paths that this process has changed since a reader began, for every reader at work. */
  const readers = new Set<Set<string>>()

  function submit(change: TableChange): Promise<void> {
    const { path, removes } = change
    const done = writer.submit({ ...change, leases: Worker.held() })
    for (const one of removes ? [path, removes] : [path]) {
      const settled = done
        .catch(() => {})
        .then(() => void (changing.get(one) === settled && changing.delete(one)))
      changing.set(one, settled)
      for (const touched of readers) touched.add(one)
    }
    return done
  }

  async function read<T>(key: Key): Promise<T> {
    for (;;) {
      const body = await readBody(pathOf(key))
      if (body === undefined) throw new NotFound(key)
      try {
        return parse(key, { text: body }) as T
      } catch (error) {
        await repair(key, body, error as Corrupt)
      }
    }
  }

  async function readBody(path: string): Promise<string | undefined> {
    await changing.get(path)
    const [row] = await database.read<Row>({
      name: "read",
      text: "select body from vitamin.record where parent = $1 and name = $2",
      values: splitPath(path),
    })
    return row?.body
  }

  /** Quarantine a broken record and report it. Returns if somebody else has replaced it meanwhile. */
  async function repair(key: Key, body: string, broken: Corrupt): Promise<void> {
    const place = await moveAway(pathOf(key), body)
    if (place === undefined) return
    const error = new Corrupt(key, broken.reason, place)
    Log.warn(error.message)
    throw error
  }

  /** One statement: a record that changes at the same time either keeps its new value, or is not moved. */
  async function moveAway(path: string, body: string): Promise<string | undefined> {
    const [parent, name] = splitPath(path)
    const [row] = await database.read<{ id: string }>({
      text: `with moved as (delete from vitamin.record where parent = $1 and name = $2 and body = $3
          returning parent, name, body)
        insert into vitamin.broken (parent, name, body) select parent, name, body from moved returning id`,
      values: [parent, name, body],
    })
    return row && placeOf(row.id)
  }

  async function readEach<T>(
    prefix: Key,
    names: Iterable<string>,
    take: (value: T, name: string) => void,
  ): Promise<void> {
    const parent = pathOf(prefix)
    const touched = new Set(changing.keys())
    const window = createRecordWindow(database, parent, Array.isArray(names) ? names : undefined)
    readers.add(touched)
    try {
      for (const name of names) {
        const body = touched.has(`${parent}/${name}`) ? undefined : await window.get(name)
        const found = await foundOf([...prefix, name], touched.has(`${parent}/${name}`) ? undefined : body)
        if (found) take(found.value as T, name)
      }
    } finally {
      readers.delete(touched)
    }
  }

  /** `body`: null if there is no record, undefined if it has to be read. Broken ones were reported. */
  async function foundOf(key: Key, body: string | null | undefined): Promise<{ value: unknown } | undefined> {
    if (body === null) return undefined
    try {
      if (body !== undefined) return { value: JSON.parse(body) }
    } catch {
      // It is read again, and quarantined.
    }
    try {
      return { value: await read(key) }
    } catch (error) {
      if (!(error instanceof NotFound || error instanceof Corrupt)) throw error
    }
  }

  async function update<T>(
    key: Key,
    change: (draft: T) => unknown,
    { initial, removes }: { initial?: Partial<T>; removes?: Key | undefined } = {},
  ): Promise<T> {
    const path = pathOf(key)
    return updateRecord({
      key,
      change,
      initial,
      submit: (apply) => submit({ path, removes: removes && pathOf(removes), apply }),
      repair: () => read(key),
    })
  }

  async function list(prefix: Key): Promise<string[]> {
    const path = prefix.length ? pathOf(prefix) : ""
    await Promise.allSettled([...changing].flatMap(([key, change]) => (key.startsWith(path) ? [change] : [])))
    const base = path === "" ? "" : `${path}/`
    const rows = await database.read<{ name: string }>({
      name: "list",
      text: childrenOf,
      values: [path, base, path === "" ? last : `${path}0`],
    })
    return rows.map(({ name }) => name).sort()
  }

  async function newest(prefix: Key, limit: number): Promise<string[]> {
    const path = pathOf(prefix)
    await Promise.allSettled([...changing].flatMap(([key, change]) => (key.startsWith(path) ? [change] : [])))
    const rows = await database.read<{ name: string }>({
      name: path.startsWith("session/") ? "newest session" : "newest",
      text: `select name from vitamin.record where parent = $1
        ${path.startsWith("session/") ? "and starts_with(parent, 'session/')" : ""} order by changed desc limit $2`,
      values: [path, limit],
    })
    return rows.map(({ name }) => name)
  }

  async function check(prefix: Key = []): Promise<{ records: number; broken: string[] }> {
    const path = prefix.length ? pathOf(prefix) : ""
    const total = { records: 0, broken: [] as string[] }
    let after = { parent: "", name: "" }
    for (;;) {
      const rows = await database.read<Row>({
        text: `select parent, name, body from vitamin.record where (parent, name) > ($1, $2)
          and ($3 = '' or parent = $3 or starts_with(parent, $3 || '/')) order by parent, name limit ${checkedAtOnce}`,
        values: [after.parent, after.name, path],
      })
      for (const { parent, name, body } of rows)
        if (isJson(body)) total.records++
        else
          await read(joinPath(parent, name).split("/")).catch((error) => total.broken.push(errorText(error)))
      if (rows.length < checkedAtOnce) break
      after = rows.at(-1)!
    }
    return total
  }

  async function quarantined(prefix: Key): Promise<Quarantined[]> {
    const rows = await database.read<{ id: string; parent: string; name: string }>({
      text: `select id, parent, name from vitamin.broken where ${atOrBelow} order by parent, name, id`,
      values: whereOf(prefix),
    })
    return rows.map(({ id, parent, name }) => ({
      key: joinPath(parent, name).split("/"),
      place: placeOf(id),
      removal: `in psql: delete from vitamin.broken where id = ${id}`,
    }))
  }

  async function bodyOf({ place }: Quarantined): Promise<string | undefined> {
    const text = "select body from vitamin.broken where id = $1"
    const [row] = await database.read<{ body: string }>({ text, values: [idOf(place)] })
    return row?.body
  }

  return Object.freeze<Backend>({
    read,
    readEach,
    isKnownMissing: () => false,
    async write(key, data) {
      const path = pathOf(key)
      const text = serialize(key, data)
      await submit({ path, isBlind: true, size: text.length, apply: () => text })
    },
    update,
    async remove(key) {
      await submit({ path: pathOf(key), isBlind: true, apply: () => undefined })
    },
    list,
    newest,
    quarantined,
    async quarantine(key, isWrong) {
      const body = await readBody(pathOf(key))
      const isMoved = body !== undefined && isJson(body) && isWrong(JSON.parse(body))
      return isMoved ? moveAway(pathOf(key), body) : undefined
    },
    async readQuarantined(one) {
      const body = await bodyOf(one)
      return body === undefined ? { reason: "it is gone" } : parseQuarantined(Buffer.from(body))
    },
    headOf: async (one) => (await bodyOf(one))?.slice(0, headBytes) ?? "",
    async dropQuarantined({ place }) {
      await database.read({ text: "delete from vitamin.broken where id = $1", values: [idOf(place)] })
    },
    async discard(prefix) {
      await database.read({ text: `delete from vitamin.broken where ${atOrBelow}`, values: whereOf(prefix) })
    },
    check,
    async close() {
      await writer.close()
      await database.close()
    },
  })
}

/** The records of a folder, and the folders in it. Of each folder at most two rows are read, however many records it has:
 * "a" and its first record below "a/" are followed by the first one from "a0" on, as "0" comes right behind "/". */
const childrenOf = `
  with recursive folder (path) as (
    (select parent from vitamin.record where parent > $2 and parent < $3 order by parent limit 1)
    union all
    select (select r.parent from vitamin.record r
      where r.parent >= (case when strpos(substr(path, length($2) + 1), '/') = 0 then path || chr(1)
          else $2 || split_part(substr(path, length($2) + 1), '/', 1) || '0' end) collate "C"
        and r.parent < $3 order by r.parent limit 1)
    from folder where path is not null)
  select name from vitamin.record where parent = $1
  union
  select split_part(substr(path, length($2) + 1), '/', 1) from folder where path is not null`

const atOrBelow = `($3 = '' or (parent = $1 and name = $2) or parent = $3 or starts_with(parent, $3 || '/'))`

function whereOf(prefix: Key): string[] {
  const path = prefix.length ? pathOf(prefix) : ""
  return [...splitPath(path), path]
}

function placeOf(id: string): string {
  return `row ${id} of vitamin.broken`
}

function idOf(place: string): string {
  return /\d+/.exec(place)?.[0] ?? "0"
}
