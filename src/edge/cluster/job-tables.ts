// What is read from the tables of the engine that keeps the jobs, and the one change that is made there: a job that may run
// is moved from the queue of waiting jobs, which no worker listens to, into the queue of the workers.
import type { Client, Database } from "#kernel/database/database.ts"
import { isAlive } from "#kernel/worker/heartbeat.ts"
import { schemaName } from "./engine-config.ts"
import type { Running, Waiting } from "./pick-jobs.ts"
import { tickQueue } from "./schedule-rows.ts"

export const queue = "vitamin"
export const waitingQueue = "vitamin waiting"

/** All open jobs. The record of a prompt goes when it begins. Without one a waiting job has nothing left to do: its prompt
 * was removed, or has joined another one. */
const open = `select j.workflow_uuid as id, j.queue_partition_key as session, j.created_at, j.queue_name = '${queue}' as runs,
    coalesce(j.attributes->>'person', '') as person, coalesce(j.attributes->>'project', '') as project,
    not exists (select 1 from vitamin.record r where r.parent = 'job/' || j.queue_partition_key
      and r.name = j.workflow_uuid) as done,
    bool_or(j.queue_name = '${queue}') over (partition by j.queue_partition_key) as busy
  from ${schemaName}.workflow_status j
  where j.queue_name in ('${queue}', '${waitingQueue}') and j.status in ('ENQUEUED', 'PENDING')`

/** A session runs one job at a time, the oldest first. Of each person and project so many are enough as the workers can
 * run. */
const state = `with open as materialized (${open}), head as (
    select distinct on (session) id, person, project, created_at from open
    where not runs and not done and not busy
    order by session, created_at, id),
  near as (select *, row_number() over (partition by person, project order by created_at, id) as place from head),
  capacity as (select coalesce(sum(slots), 0)::int as places from vitamin.worker w where ${isAlive})
  select places,
    (select coalesce(json_agg(r), '[]') from (select distinct session, person, project from open where runs) r) as running,
    (select coalesce(json_agg(w order by created_at, id), '[]') from near w where place <= places) as waiting,
    (select coalesce(json_agg(c), '[]') from (
      select person, project, count(*)::int as count from open where not runs and not done group by 1, 2) c) as counts,
    (select coalesce(json_agg(id), '[]') from open where not runs and done) as done
  from capacity`

export type State = {
  /** What the workers can run together. */
  places: number
  running: Running[]
  /** The next job of each session, the oldest first. */
  waiting: Waiting[]
  /** How many wait. */
  counts: { person: string; project: string; count: number }[]
  /** Waiting jobs that have nothing left to do. */
  done: string[]
}

export async function readState(client: Client): Promise<State> {
  return (await client.query<State>({ name: "jobs", text: state })).rows[0]!
}

export async function isAnyWaiting(database: Database): Promise<boolean> {
  const text = `select 1 from ${schemaName}.workflow_status where queue_name = '${waitingQueue}' and status = 'ENQUEUED' limit 1`
  return (await database.read({ name: "waiting jobs", text })).length > 0
}

/** Workers that run jobs, as the engine says, and that have no row in `vitamin.worker`. */
export async function workersWithoutRow(database: Database): Promise<string[]> {
  const text = `select distinct executor_id as id from ${schemaName}.workflow_status j
    where status = 'PENDING' and queue_name = any($1)
      and not exists (select 1 from vitamin.worker w where w.id = j.executor_id)`
  const values = [[queue, tickQueue]]
  return (await database.read<{ id: string }>({ name: "lost workers", text, values })).map(({ id }) => id)
}

export async function moveToWorkers(client: Client, ids: readonly string[]): Promise<void> {
  const text = `update ${schemaName}.workflow_status set queue_name = '${queue}'
    where workflow_uuid = any($1) and queue_name = '${waitingQueue}' and status = 'ENQUEUED'`
  if (ids.length) await client.query(text, [ids])
}

/** Removes jobs with their prompts, in the transaction that added them. */
export async function removeJobs(client: Client, ids: readonly string[]): Promise<void> {
  if (!ids.length) return
  const text = `with removed as (delete from ${schemaName}.workflow_status where workflow_uuid = any($1)
      returning queue_partition_key as session, workflow_uuid as id)
    delete from vitamin.record r using removed where r.parent = 'job/' || session and r.name = id`
  await client.query(text, [ids])
}

export async function isStored(client: Client, id: string): Promise<boolean> {
  const text = `select 1 from ${schemaName}.workflow_status where workflow_uuid = $1`
  return (await client.query(text, [id])).rows.length > 0
}
