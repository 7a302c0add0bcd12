// Chooses the waiting jobs that may run. A free place goes to the person of whom the fewest run, so that somebody with many
// waiting prompts does not keep the others waiting; among those, the oldest job is first.
import type { Limits } from "./limits.ts"

export type Running = { session: string; person: string; project: string }
export type Waiting = { id: string; person: string; project: string }

/** `waiting`: the oldest first, one for each session. `places`: what the workers can run together. */
export function pickJobs(options: {
  running: readonly Running[]
  waiting: readonly Waiting[]
  limits: Limits
  places: number
}): string[] {
  const { running, limits } = options
  const persons = countBy(running, ({ person }) => person)
  const projects = countBy(running, ({ project }) => project)
  const left = [...options.waiting]
  const picked: string[] = []
  const of = (counts: Map<string, number>, name: string) => counts.get(name) ?? 0
  const mayRun = ({ person, project }: Waiting) =>
    of(persons, person) < limits["running.person"] && of(projects, project) < limits["running.project"]
  let free =
    Math.min(options.places, limits["running.fleet"]) - new Set(running.map(({ session }) => session)).size
  for (; free > 0; free--) {
    const able = left.filter(mayRun)
    if (!able.length) break
    const next = able.reduce((best, one) => (of(persons, one.person) < of(persons, best.person) ? one : best))
    left.splice(left.indexOf(next), 1)
    picked.push(next.id)
    persons.set(next.person, of(persons, next.person) + 1)
    projects.set(next.project, of(projects, next.project) + 1)
  }
  return picked
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return counts
}
