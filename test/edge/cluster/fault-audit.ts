// Watches the database of a fleet during a fault run: which process wrote each message, whether it held the lease of the
// session when its transaction was committed, and who took which lease when.
import { setTimeout as sleep } from "node:timers/promises"
import type { TmpDatabase } from "../../fixture/postgres.ts"

/** A worker that was hit by a fault while it held the leases of these sessions. */
export type Hit = { kind: string; pid: number; at: number; sessions: string[] }
export type Takeover = Hit & { session: string; lease: number; record: number }
export type Audit = Readonly<{
  /** The sessions that a process works on. */
  sessionsOf(pid: number): Promise<string[]>
  /** Messages that a process wrote without the lease, and records of sessions that another one held. */
  fencedWrites(): Promise<unknown[]>
  writes(): Promise<number>
  /** Milliseconds from each fault to the lease and to the first record of another worker. */
  takeovers(hits: Hit[]): Promise<Takeover[]>
}>

/** The trigger of records runs at the commit. Connections of vitamin have the name "vitamin PID", workers "HOST-PID-…". */
const triggers = `
  create table public.audit (
    at timestamptz not null default clock_timestamp(), kind text, session text, pid text, holder text);
  create function public.pid_of(worker text) returns text language sql as
    $$ select substring(worker from '-([0-9]+)-[0-9a-f]+$') $$;
  create function public.audit_record() returns trigger language plpgsql as $$
    declare changed record; place text[];
    begin
      if tg_op = 'DELETE' then changed := old; else changed := new; end if;
      place := string_to_array(changed.parent || '/' || changed.name, '/');
      if place[1] not in ('message', 'session') then return null; end if;
      insert into public.audit (kind, session, pid, holder)
        select place[1], named, substring(current_setting('application_name') from '[0-9]+$'),
          (select public.pid_of(worker) from vitamin.lease where session = named)
        from (select case place[1] when 'message' then place[2] else place[3] end as named) k;
      return null;
    end $$;
  create constraint trigger audit_record after insert or update or delete on vitamin.record
    deferrable initially deferred for each row execute function public.audit_record();
  create function public.audit_lease() returns trigger language plpgsql as $$
    begin
      insert into public.audit (kind, session, pid) values ('lease', new.session, public.pid_of(new.worker));
      return null;
    end $$;
  create trigger audit_lease after insert or update on vitamin.lease
    for each row execute function public.audit_lease();
  create index on public.audit (session, at)`

/** Called when the tables exist and nobody works yet. */
export async function createAudit(database: TmpDatabase): Promise<Audit> {
  const query = <T>(sql: string, values: unknown[] = []) => patiently(() => database.query<T>(sql, values))
  await query(triggers)
  const first = async (
    kinds: string[],
    { session, pid, at }: { session: string; pid: number; at: number },
  ) => {
    const text = `select extract(epoch from min(at))::float8 * 1000 as at from public.audit
      where kind = any($1) and session = $2 and pid <> $3 and at > to_timestamp($4::float8 / 1000)`
    const [row] = await query<{ at: number | null }>(text, [kinds, session, String(pid), at])
    return (row?.at ?? Number.POSITIVE_INFINITY) - at
  }
  const records = ["message", "session"]
  return Object.freeze<Audit>({
    async sessionsOf(pid) {
      const text = `select session from vitamin.lease where public.pid_of(worker) = $1 and exists (
        select 1 from vitamin_jobs.workflow_status where queue_partition_key = session and status = 'PENDING')`
      return (await query<{ session: string }>(text, [String(pid)])).map(({ session }) => session)
    },
    fencedWrites: () =>
      query(`select * from public.audit where kind = 'message' and pid is distinct from holder
        or kind = 'session' and pid <> holder limit 20`),
    async writes() {
      const text = "select count(*)::float8 as count from public.audit where kind = 'message'"
      return (await query<{ count: number }>(text))[0]!.count
    },
    async takeovers(hits) {
      const found: Takeover[] = []
      for (const hit of hits)
        for (const session of hit.sessions) {
          const asked = { ...hit, session }
          found.push({ ...asked, lease: await first(["lease"], asked), record: await first(records, asked) })
        }
      return found
    },
  })
}

/** The database may be away for a while. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(100)
    }
}
