// The tables. Whoever starts first creates or changes them, under a lock of the database, each step once.
import type { Client } from "./connection.ts"
import { Unusable } from "./errors.ts"
import { readFleet } from "./fleet.ts"
import { readObjectPlace } from "./object-place.ts"

/** The lock that one process at a time holds while it changes tables. The number only has to be ours. */
export const lock = 7_046_029_254
const oldestServer = 130_000
/** Milliseconds that the steps may take together. */
const stepsTimeout = 600_000

/** Step N brings the tables from version N to N + 1. A step that a release has made is never changed.
 *
 * - A record is found by its folder and its name, which compare byte by byte.
 * - The one row of `event_head` numbers events. It stays locked until their transaction ends, so numbers are committed in
 *   their order, without gaps: a reader never sees 5 before 4. `position`: bytes of all events up to this one.
 * - `live_key` seals live events between servers: notifications can be read by everybody who may connect.
 * - An object is bytes, in chunks under their hash, or in a bucket under `key`. `object_use` has who uses it under which
 *   name. */
const steps = [
  `create table vitamin.record (
     parent text collate "C" not null, name text collate "C" not null, body text not null,
     primary key (parent, name));
   create table vitamin.broken (
     id bigint generated always as identity primary key,
     parent text collate "C" not null, name text collate "C" not null, body text not null);
   create index on vitamin.broken (parent, name);
   create table vitamin.event_head (seq bigint not null, position bigint not null);
   insert into vitamin.event_head values (0, 0);
   create table vitamin.event (seq bigint primary key, position bigint not null unique, frame text not null)`,
  `alter table vitamin.version add column oldest int not null default 1, add column fleet text`,
  `create table vitamin.object (hash text collate "C" primary key, size bigint not null);
   create table vitamin.object_chunk (
     hash text collate "C" not null references vitamin.object on delete cascade, number int not null, bytes bytea not null,
     primary key (hash, number));
   create table vitamin.object_use (
     owner text collate "C" not null, name text collate "C" not null,
     hash text collate "C" not null references vitamin.object,
     primary key (owner, name));
   create index on vitamin.object_use (name);
   create index on vitamin.object_use (hash)`,
  // Epochs are never given twice, so a lease that was released leaves no row.
  `create table vitamin.worker (id text primary key, seen timestamptz not null);
   create sequence vitamin.epoch;
   create table vitamin.lease (session text collate "C" primary key, worker text not null, epoch bigint not null);
   create index on vitamin.lease (worker)`,
  `create table vitamin.mail (
     id bigint generated always as identity primary key, worker text not null, body text not null);
   create index on vitamin.mail (worker);
   create table vitamin.attempt (job text collate "C" primary key, tries int not null)`,
  // For the sessions that were used last. Other folders are not asked for, so they need no index.
  `alter table vitamin.record add column changed timestamptz not null default now();
   create index record_changed on vitamin.record (parent, changed desc) where starts_with(parent, 'session/')`,
  // How many jobs a worker runs at once. A program that only holds leases runs none.
  `alter table vitamin.worker add column slots int not null default 0`,
  `create table vitamin.live_key (key bytea not null);
   insert into vitamin.live_key select decode(replace(concat(gen_random_uuid(), gen_random_uuid()), '-', ''), 'hex')`,
  `alter table vitamin.version add column objects text; alter table vitamin.object add column key text`,
  // The prompts of jobs are kept by session.
  `alter table vitamin.worker add column silent_from timestamptz, add column silent_to timestamptz;
   alter table vitamin.attempt add column last text;
   update vitamin.record set parent = 'job/' || substring(body from '"sessionId":"([^"]+)"')
     where parent = 'prompt' and body like '%"isJob":true%' and body ~ '"sessionId":"[^"]+"'`,
]

export const newest = steps.length
/** Programs that know the tables up to this version can work with the newest ones. A step that they could not live with,
 * such as one that removes a column, raises it. Programs before 10 do not find the prompts of jobs. */
const oldest = 10

/** What the tables say about themselves. */
type Marks = {
  schema: number
  oldest: number
  fleet: string | undefined
  /** Where the bytes of objects are; null: in the tables; undefined: the tables are of a version without it. */
  objects: string | null | undefined
  clock: number
}
export type Facts = {
  version: string
  encoding: string
  isReadOnly: boolean
  /** Undefined if there are no tables yet. */
  schema: number | undefined
  fleet?: string | undefined
  /** Milliseconds by which the clock of this machine is ahead. */
  ahead: number
}

export async function readFacts(client: Client): Promise<Facts & { number: number }> {
  const sentAt = Date.now()
  const { rows } = await client.query(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding,
       current_setting('transaction_read_only') = 'on' as "isReadOnly",
       extract(epoch from clock_timestamp())::float8 * 1000 as clock,
       to_regclass('vitamin.version') is not null as "isThere"`,
  )
  const ahead = (sentAt + Date.now()) / 2 - (rows[0] as { clock: number }).clock
  const {
    isThere,
    clock: _,
    ...facts
  } = rows[0] as Facts & { number: number; isThere: boolean; clock: number }
  if (!isThere) return { ...facts, ahead, schema: undefined }
  return { ...facts, ahead, ...(await readMarks(client)) }
}

/** Tables of an older version have fewer columns. */
export async function readMarks(client: Client): Promise<Marks> {
  const { rows } = await client.query<{
    marks: { version: number; oldest?: number; fleet?: string | null; objects?: string | null }
    clock: number
  }>(
    "select to_jsonb(v) as marks, extract(epoch from clock_timestamp())::float8 * 1000 as clock from vitamin.version v",
  )
  const { marks, clock } = rows[0] ?? { marks: { version: 0 }, clock: Date.now() }
  return {
    schema: marks.version,
    oldest: marks.oldest ?? marks.version,
    fleet: marks.fleet ?? undefined,
    objects: marks.objects,
    clock,
  }
}

/** Refuses a database that vitamin cannot work with. */
export function checkFacts(shown: string, facts: Facts & { number: number } & Partial<Marks>): void {
  if (facts.number < oldestServer)
    throw new Unusable(
      shown,
      `it is PostgreSQL ${facts.version}, and 13 or later is needed. Upgrade it, or name another one`,
    )
  if (facts.encoding !== "UTF8")
    throw new Unusable(
      shown,
      `its encoding is ${facts.encoding}, and UTF8 is needed (create database … encoding 'UTF8')`,
    )
  if (facts.isReadOnly)
    throw new Unusable(
      shown,
      "it is read-only (a standby, or default_transaction_read_only is on). Name the primary server",
    )
  if (facts.schema !== undefined) checkMarks(shown, { ...facts, schema: facts.schema })
}

/** Refuses tables that this program does not know, and those of another fleet. A newer program may have changed them while
 * this one works, so they are checked again for every connection. */
export function checkMarks(shown: string, marks: Partial<Marks> & { schema: number }): void {
  if ((marks.oldest ?? marks.schema) > newest)
    throw new Unusable(
      shown,
      `its tables have version ${marks.schema}, and this vitamin knows up to ${newest}. Upgrade this vitamin`,
    )
  const own = readFleet()
  if (marks.schema >= 2 && marks.fleet !== own) throw new Unusable(shown, otherFleet(marks.fleet, own))
  const place = readObjectPlace()
  if (marks.objects !== undefined && (marks.objects ?? undefined) !== place)
    throw new Unusable(shown, otherPlace(marks.objects ?? undefined, place))
}

function otherFleet(fleet: string | undefined, own: string | undefined): string {
  const mine = own === undefined ? "VITAMIN_FLEET is not set here" : `VITAMIN_FLEET is ${own} here`
  return fleet === undefined
    ? `it belongs to servers without the name of a fleet, and ${mine}. Name another database, or unset VITAMIN_FLEET`
    : `it belongs to the fleet ${fleet}, and ${mine}. Name another database, or set VITAMIN_FLEET=${fleet}`
}

function otherPlace(place: string | undefined, own: string | undefined): string {
  const mine = own === undefined ? "VITAMIN_OBJECTS is not set here" : `VITAMIN_OBJECTS is ${own} here`
  return place === undefined
    ? `its servers keep the bytes of objects in the database, and ${mine}. Unset it`
    : `its servers keep the bytes of objects in ${place}, and ${mine}. Set VITAMIN_OBJECTS=${place}`
}

/** Bring the tables to the newest version. Those who come second wait, and find nothing left to do. */
export async function migrate(shown: string, client: Client): Promise<void> {
  // Another process may be busy with a step that takes long.
  await client.query("set lock_timeout = '30s'")
  await client.query({ text: "select pg_advisory_lock($1)", values: [lock], query_timeout: 40_000 })
  try {
    const { schema = 0, ...facts } = await readFacts(client)
    const pending = steps.slice(schema).join(";\n")
    if (!pending) return
    if (schema >= 4) await refuseOldServers(shown, client)
    const first = "fleet" in facts ? "" : start
    // Several statements in one query are one transaction. The name of a fleet has letters, digits, dots and hyphens.
    const fleet = readFleet()
    const name = first && fleet ? `, fleet = '${fleet}'` : ""
    // Programs that know no bucket would not find the bytes. The place has no quotes.
    const place = first ? readObjectPlace() : undefined
    const objects = place ? `, objects = '${place}'` : ""
    await client.query({
      text: `${first}${pending};\nupdate vitamin.version set version = ${newest}, oldest = greatest(oldest, ${place ? newest : oldest})${name}${objects}`,
      query_timeout: stepsTimeout,
    })
  } finally {
    await client.query("select pg_advisory_unlock($1)", [lock]).catch(() => {})
    await client.query("set lock_timeout = '5s'").catch(() => {})
  }
}

/** Servers that could not live with the new tables would only notice it with their next connection. */
async function refuseOldServers(shown: string, client: Client): Promise<void> {
  if ((await readMarks(client)).oldest >= oldest) return
  const text = "select id from vitamin.worker where seen > clock_timestamp() - interval '2.5 s'"
  const { rows } = await client.query<{ id: string }>(text)
  if (!rows.length) return
  const servers = rows.map(({ id }) => id).join(", ")
  throw new Unusable(
    shown,
    `servers of an older version run on it (${servers}), which cannot use the tables of this one. Stop them first`,
  )
}

/** A user who may not create schemas may have been given one. */
const start = `do $$ begin if to_regnamespace('vitamin') is null then create schema vitamin; end if; end $$;
  create table vitamin.version (version int not null); insert into vitamin.version values (0);`

/** Creates all tables. */
export const creation = `${start}${steps.join(";\n")}`
