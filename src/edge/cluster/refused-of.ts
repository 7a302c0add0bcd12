// Which new jobs are refused, because they would have to wait while too many wait already.
import type { State } from "./job-tables.ts"
import * as Limits from "./limits.ts"

type Names = { person: string; project: string }
/** The person is "" for the owner. */
export type New = Names & { id: string }
/** The reason for each refused job, by its id. */
export type Refused = ReadonlyMap<string, Limits.TooMany>

/** `batch`: the new jobs, the oldest first. `state` has them among the jobs that wait, also those that were picked to run. */
export function refusedOf(
  batch: readonly New[],
  { state, picked, limits }: { state: State; picked: readonly string[]; limits: Limits.Limits },
): Refused {
  const refused = new Map<string, Limits.TooMany>()
  const begun = state.waiting.filter(({ id }) => picked.includes(id))
  const left = batch.filter(({ id }) => !picked.includes(id))
  for (const [at, added] of left.entries()) {
    // Those that come later, and those that were refused, do not count.
    const gone = [...begun, ...left.filter(({ id }, place) => place >= at || refused.has(id))]
    for (const { name, who, isMeant } of scopesOf(added)) {
      const all = state.counts.filter(isMeant).reduce((sum, { count }) => sum + count, 0)
      const count = all - gone.filter(isMeant).length
      if (count < limits[name] || refused.has(added.id)) continue
      refused.set(added.id, new Limits.TooMany({ name, who, count, limit: limits[name] }))
    }
  }
  return refused
}

function scopesOf({ person, project }: Names) {
  return [
    {
      name: "waiting.person",
      who: person || "the owner",
      isMeant: (one: Names) => one.person === person,
    },
    {
      name: "waiting.project",
      who: "this project",
      isMeant: (one: Names) => one.project === project,
    },
    { name: "waiting.fleet", who: "the fleet", isMeant: () => true },
  ] as const
}
