// The audit log: who did what, when, and with which result. Entries are only added. Each process collects its own in
// records of up to 100 entries, so that processes never wait for each other; above a limit the oldest records are removed.
// Bodies and queries are never in it.
import { z } from "zod"
import type { Person } from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import * as PersonalToken from "./personal-token.ts"

export const Entry = z.object({
  time: about("In milliseconds since 1970.", z.number()),
  person: about("Name of the person, or `owner`.", z.string()),
  action: about("The operation: its id in the API, a method of ACP, or a command.", z.string()),
  target: about("The path, or the session.", z.string()),
  result: about("HTTP status, or `ok` or `failed`.", z.string()),
})
export type Entry = z.infer<typeof Entry>
type Done = Omit<Entry, "time" | "person"> & { person: Pick<Person, "name"> | undefined; isReading?: boolean }

export type Audit = Readonly<{
  /** Resolves when the entry is stored. Never rejects. The owner's actions count if there are other people. */
  record(done: Done): Promise<void>
}>

const perRecord = 100
const maxRecords = 2_000
const longest = 500
/** The same reading of the same thing is recorded once in this time. */
const sameReading = 60_000
const maxReadings = 1_000
/** Milliseconds for which it is known that the owner is alone. */
const peopleFor = 60_000

export function createAudit(): Audit {
  const readings = new Map<string, number>()
  let people = { areThere: false, checkedAt: Number.NEGATIVE_INFINITY }
  let segment: { name: string; entries: Entry[]; queued?: Promise<void> | undefined } | undefined
  let last = Promise.resolve()

  async function record({ person, isReading = false, ...rest }: Done): Promise<void> {
    try {
      if (!person && !(await hasPeople(rest.action))) return
      const entry = entryOf({ person, ...rest })
      if (isReading && wasRead(entry)) return
      const isNew = !segment || segment.entries.length >= perRecord
      if (!segment || isNew) segment = { name: createId("audit"), entries: [] }
      segment.entries.push(entry)
      await store(segment)
      if (isNew) await prune()
    } catch (error) {
      Log.error("an action of a person could not be added to the audit log", { error: errorText(error) })
    }
  }

  /** The owner alone leaves no entries. Another process may create a token at any time. */
  async function hasPeople(action: string): Promise<boolean> {
    const isNew = performance.now() - people.checkedAt < peopleFor && action !== "createToken"
    if (people.areThere || isNew) return people.areThere
    people = { areThere: (await PersonalToken.list()).length > 0, checkedAt: performance.now() }
    return people.areThere
  }

  /** A write that has not begun yet takes later entries along. */
  function store(to: NonNullable<typeof segment>): Promise<void> {
    if (to.queued) return to.queued
    to.queued = last.then(() => {
      to.queued = undefined
      return Storage.write(["audit", to.name], { entries: to.entries })
    })
    last = to.queued.catch(() => {})
    return to.queued
  }

  function wasRead({ person, action, target, result, time }: Entry): boolean {
    const key = [person, action, target, result].join(" ")
    const before = readings.get(key)
    if (before !== undefined && time - before < sameReading) return true
    readings.delete(key)
    readings.set(key, time)
    const [oldest] = readings.keys()
    if (readings.size > maxReadings && oldest !== undefined) readings.delete(oldest)
    return false
  }

  return Object.freeze({ record })
}

/** Add one entry of a command of the owner. */
export async function append(done: Omit<Entry, "time" | "person">): Promise<void> {
  await Storage.write(["audit", createId("audit")], { entries: [entryOf({ ...done, person: undefined })] })
  await prune()
}

/** The newest first. */
export async function list(query: {
  person?: string | undefined
  since?: number | undefined
  until?: number | undefined
  limit: number
}): Promise<Entry[]> {
  const { person, since = 0, until = Number.POSITIVE_INFINITY, limit } = query
  const found: Entry[] = []
  await Storage.readAll<{ entries?: unknown[] }>(["audit"], ({ entries }) => {
    for (const value of entries ?? []) {
      const { data: entry } = Entry.safeParse(value)
      if (!entry || entry.time < since || entry.time > until) continue
      if (person === undefined || entry.person === person) found.push(entry)
    }
  })
  // Records of several processes overlap in time.
  return found.sort((a, b) => b.time - a.time).slice(0, limit)
}

async function prune(): Promise<void> {
  const names = await Storage.list(["audit"])
  await Promise.all(names.slice(0, -maxRecords).map((name) => Storage.remove(["audit", name])))
}

function entryOf({ person, action, target, result }: Omit<Done, "isReading">): Entry {
  const shown = (text: string) => Secret.redact(text).slice(0, longest)
  return { time: Storage.now(), person: person?.name ?? "owner", action, target: shown(target), result }
}
