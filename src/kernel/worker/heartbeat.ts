// When a worker counts as alive. Only the clock of the database counts: the clocks of the machines may differ.

/** Milliseconds between two heartbeats. One may be late three times before the worker counts as dead. */
export const every = 500
const deadAfter = 2_500

/** A condition on a row of `vitamin.worker`. Nobody could send heartbeats while PostgreSQL was away, so nobody counts as
 * dead right after its start. A worker that was stopped has sent its last heartbeat at `-infinity`. */
export const isAlive = `(seen > clock_timestamp() - interval '${deadAfter} ms'
  or isfinite(seen) and pg_postmaster_start_time() > clock_timestamp() - interval '${deadAfter + 2 * every} ms')`
