// Which records the servers of a database share, and which belong to a machine. Paths, reviews of files and the sessions
// of browsers mean something on one machine only, so they stay files there.
import type { Key } from "./errors.ts"
import type { Backend } from "./storage.ts"

const ofMachine = new Set(["trust", "trust-content", "script", "space", "browser-session", "meta"])

export function isOfMachine(area: string | undefined): boolean {
  return area !== undefined && ofMachine.has(area)
}

export function createSharedRecords(tables: Backend, files: Backend): Backend {
  const of = (key: Key) => (isOfMachine(key[0]) ? files : tables)
  const ofPlace = (place: string) => (place.startsWith("/") ? files : tables)
  const parts = (prefix: Key) => (prefix.length ? [of(prefix)] : [tables, files])
  return Object.freeze<Backend>({
    read: (key) => of(key).read(key),
    readEach: (prefix, names, take) => of(prefix).readEach(prefix, names, take),
    isKnownMissing: (key) => of(key).isKnownMissing(key),
    write: (key, data) => of(key).write(key, data),
    update: (key, change, options) => of(key).update(key, change, options),
    remove: (key) => of(key).remove(key),
    async list(prefix) {
      if (prefix.length) return of(prefix).list(prefix)
      const [shared, own] = await Promise.all([tables.list([]), files.list([])])
      return [...shared, ...own.filter(isOfMachine)].sort()
    },
    newest: (prefix, limit) => of(prefix).newest(prefix, limit),
    async quarantined(prefix) {
      const all = await Promise.all(parts(prefix).map((backend) => backend.quarantined(prefix)))
      return all.flat().filter(({ key, place }) => ofPlace(place) === of(key))
    },
    quarantine: (key, isWrong) => of(key).quarantine(key, isWrong),
    readQuarantined: (one) => ofPlace(one.place).readQuarantined(one),
    headOf: (one) => ofPlace(one.place).headOf(one),
    dropQuarantined: (one) => ofPlace(one.place).dropQuarantined(one),
    discard: (prefix) => of(prefix).discard(prefix),
    async check(prefix = []) {
      if (prefix.length) return of(prefix).check(prefix)
      const own = (await files.list([])).filter(isOfMachine)
      const all = await Promise.all([tables.check([]), ...own.map((area) => files.check([area]))])
      return {
        records: all.reduce((sum, { records }) => sum + records, 0),
        broken: all.flatMap(({ broken }) => broken),
      }
    },
    close: async () => void (await Promise.all([tables.close(), files.close()])),
  })
}
