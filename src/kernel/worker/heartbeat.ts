// When a worker counts as alive. Only the clock of the database counts: the clocks of the machines may differ.

/** Milliseconds between two heartbeats. One may be late three times before the worker counts as dead. */
export const every = 500
export const deadAfter = 2_500
const late = 2 * every

const within = (milliseconds: number) => `> clock_timestamp() - interval '${milliseconds} ms'`

const isNewSilence = `not w.seen ${within(late)} and (w.silent_to ${within(deadAfter)}) is not true`

/** A heartbeat of the worker $1 that runs $2 jobs at once. If it comes late, the row says from when to when the worker was
 * silent. A silence stays there as long as it counts. */
export const heartbeat = `insert into vitamin.worker as w (id, seen, slots) values ($1, clock_timestamp(), $2)
  on conflict (id) do update set seen = excluded.seen, slots = excluded.slots,
    silent_from = case when ${isNewSilence} then w.seen else w.silent_from end,
    silent_to = case when ${isNewSilence} then excluded.seen else w.silent_to end`

/** A condition on the row `w` of a worker whose heartbeat came in time. */
export const isSeen = `w.seen ${within(deadAfter)}`

/** A condition on the row `w` of a worker. A worker that was stopped has sent its last heartbeat at `-infinity`. Nobody could
 * send heartbeats while PostgreSQL was away or could not be reached. So nobody counts as dead right after its start; and if
 * a worker is back after a silence, the others that fell silent with it have 2.5 seconds from then on to come back. */
export const isAlive = `(${isSeen} or isfinite(w.seen) and (
  pg_postmaster_start_time() ${within(deadAfter + 2 * every)}
  or exists (select 1 from vitamin.worker o where o.silent_to ${within(deadAfter)}
    and o.silent_from between w.seen - interval '${late} ms' and w.seen + interval '${late} ms')))`
