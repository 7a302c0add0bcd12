// What guards blocked, laid out for a drawing: the events of a session from left to right, and a row for each guard.

type Blocking = { guard: string; reason: string }
/** An event of a session. `blocked`: by guards of then. `simulated`: by other guards. */
export type GuardedEvent = {
  time: number
  event: string
  isAction: boolean
  blocked: readonly Blocking[]
  simulated?: readonly Blocking[] | undefined
}
export type TimelineDot = { kind: "blocked" | "action" | "fact"; said: string; event: GuardedEvent }
/** `at`: index of the event. */
export type TimelineRow = { guard: string; marks: { at: number; reason: string }[] }

/** Longer sessions show their last events. */
export const maxTimeline = 1_000

export function guardTimeline(all: readonly GuardedEvent[]): { dots: TimelineDot[]; rows: TimelineRow[] } {
  const events = all.slice(-maxTimeline)
  const rows = new Map<string, TimelineRow>()
  for (const [at, event] of events.entries())
    for (const { guard, reason } of blockersOf(event)) {
      const row = rows.get(guard) ?? { guard, marks: [] }
      rows.set(guard, row)
      if (row.marks.at(-1)?.at !== at) row.marks.push({ at, reason })
    }
  const dots = events.map((event): TimelineDot => {
    const kind = blockersOf(event).length ? "blocked" : event.isAction ? "action" : "fact"
    return { kind, said: saidOf(event), event }
  })
  return { dots, rows: [...rows.values()] }
}

function blockersOf({ blocked, simulated = blocked }: GuardedEvent): readonly Blocking[] {
  return simulated
}

function saidOf({ time, event }: GuardedEvent): string {
  return `${event} (${new Date(time).toISOString()})`
}
