// The sessions of the list, the last used first. The newest are read first; older ones when the person scrolls to the end,
// searches, or opens the list of a folder.
import { batch, computed, signal } from "@preact/signals"
import type { Session } from "#client/client.ts"
import { clientFor, isMissingFolder } from "#edge/web/base/api.ts"
import { addSessions, byId, loads, readers } from "./sessions.ts"

/** A list as it was read. `limit`: so many were asked for; undefined: all. */
type Part = Readonly<{ limit: number | undefined; hasMore: boolean }>

const firstLimit = 100
const growth = 4
/** The highest limit that the server takes. */
const maxLimit = 99_999
/** By folder; "": of all folders. */
const parts = signal<ReadonlyMap<string, Part>>(new Map())
const reading = new Map<string, Promise<void>>()
/** The list that was opened last. */
let shown: string | undefined

/** The last used first; without those of tasks. */
export const sessions = computed(() =>
  [...byId.value.values()]
    .filter(({ taskOf }) => !taskOf)
    .sort((a, b) => b.time.updated - a.time.updated || (a.id < b.id ? 1 : -1)),
)
export const folders = computed(() => [...new Set(sessions.value.map(({ directory }) => directory))])

/** The list of a folder, or of all folders, as it was read; undefined before that. */
export function partOf(folder = ""): Part | undefined {
  const all = parts.value.get("")
  return all?.hasMore ? parts.value.get(folder) : all
}

/** Reads the newest sessions of a list, if they were not read yet. */
export async function loadFirst(folder = ""): Promise<void> {
  shown = folder
  if (!parts.value.has("")) await read("", firstLimit)
  if (!partOf(folder)) await read(folder, firstLimit)
}

export async function loadMore(folder = ""): Promise<void> {
  const { limit, hasMore } = partOf(folder) ?? {}
  if (!hasMore || limit === undefined) return
  await read(folder, limit * growth > maxLimit ? undefined : limit * growth)
}

/** A part that is being read does not count as all. */
export async function loadAll(folder = ""): Promise<void> {
  await loadFirst(folder)
  while (partOf(folder)?.hasMore) await read(folder, undefined)
}

function read(folder: string, limit: number | undefined): Promise<void> {
  let running = reading.get(folder)
  if (!running) {
    running = readPart(folder, limit).finally(() => reading.delete(folder))
    reading.set(folder, running)
  }
  return running
}

async function readPart(folder: string, limit: number | undefined): Promise<void> {
  for (;;) {
    const turn = loads
    const { sessions: found, part } = await fetchPart(folder, limit)
    // Events were missed meanwhile: the answer may be older than they are.
    if (turn !== loads) continue
    batch(() => {
      addSessions(found)
      parts.value = new Map(parts.value).set(folder, part)
    })
    return
  }
}

async function fetchPart(
  folder: string,
  limit: number | undefined,
): Promise<{ sessions: Session[]; part: Part }> {
  const range = limit === undefined ? {} : { limit: String(limit) }
  const everywhere = (most: typeof range) => clientFor().listSessions({ everywhere: true, ...most })
  const found = folder
    ? await clientFor(folder)
        .listSessions(range)
        .catch((error) => {
          if (!isMissingFolder(error)) throw error
          return undefined
        })
    : await everywhere(range)
  // The sessions of a folder that was deleted are found among all only.
  if (!found) return { sessions: await everywhere({}), part: { limit: undefined, hasMore: false } }
  return { sessions: found, part: { limit, hasMore: limit !== undefined && found.length >= limit } }
}

/** Lists of other folders are read when they are opened again. */
readers.add(async () => {
  const before = parts.value
  const all: (Awaited<ReturnType<typeof fetchPart>> & { folder: string })[] = []
  for (const folder of shown === undefined ? [] : new Set(["", shown])) {
    if (all[0]?.part.hasMore === false) break
    const limit = before.has(folder) ? before.get(folder)?.limit : firstLimit
    all.push({ folder, ...(await fetchPart(folder, limit)) })
  }
  return {
    sessions: all.flatMap(({ sessions }) => sessions),
    apply() {
      const since = [...parts.value].filter(([folder, part]) => before.get(folder) !== part)
      parts.value = new Map([...all.map(({ folder, part }) => [folder, part] as const), ...since])
    },
  }
})
