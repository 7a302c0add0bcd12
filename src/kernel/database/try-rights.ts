// Tries what a server does with a database, as its user and in a transaction that is rolled back, and says what to grant.
import { errorCode } from "#util/error.ts"
import type { Client } from "./connection.ts"
import { creation, lock } from "./schema.ts"

export type Rights = {
  user: string
  /** What the user may not do. Empty if a server can work. */
  denied: string[]
  /** None of the tables can be written. */
  isReader: boolean
  /** Statements for the owner of the database. */
  grants: string[]
}
type Attempt = { what: string; text: string; grant: string; isWrite?: boolean }
type Table = { schema: string; table: string; column: string }

const insufficientPrivilege = "42501"

/** `jobs`: the schema of the engine that runs jobs. `isOld`: the next server that starts changes the tables. */
export async function tryRights(
  client: Client,
  { jobs, isOld }: { jobs: string; isOld: boolean },
): Promise<Rights> {
  await client.query("begin")
  try {
    // A server that is creating tables comes first.
    await client.query("select pg_advisory_xact_lock($1)", [lock])
    const attempts = await attemptsOf(client, { schemas: ["vitamin", jobs], isOld })
    const denied: Attempt[] = []
    for (const attempt of attempts) if (!(await isAllowed(client, attempt.text))) denied.push(attempt)
    const writes = attempts.filter(({ isWrite }) => isWrite)
    const [row] = (await client.query<{ user: string }>("select current_user::text as user")).rows
    return {
      user: row!.user,
      denied: denied.map(({ what }) => what),
      isReader: writes.length > 0 && writes.every((one) => denied.includes(one)),
      grants: [...new Set(denied.map(({ grant }) => grant))],
    }
  } finally {
    await client.query("rollback").catch(() => {})
  }
}

async function isAllowed(client: Client, text: string): Promise<boolean> {
  const [, tried] = await Promise.allSettled([
    client.query("savepoint attempt"),
    client.query(text),
    client.query("rollback to attempt"),
  ])
  if (tried!.status === "fulfilled") return true
  if (errorCode(tried!.reason) !== insufficientPrivilege) throw tried!.reason
  return false
}

async function attemptsOf(
  client: Client,
  { schemas, isOld }: { schemas: string[]; isOld: boolean },
): Promise<Attempt[]> {
  const names = `select quote_ident(current_user) as user, quote_ident(current_database()) as database,
    (select quote_ident(pg_get_userbyid(relowner)) from pg_class where oid = to_regclass('vitamin.version')) as owner`
  const [{ user, database, owner }] = (
    await client.query<{ user: string; database: string; owner: string }>(names)
  ).rows as [{ user: string; database: string; owner: string }]
  const tables = await tablesIn(client, schemas)
  const missing = schemas.filter((schema) => !tables.some((one) => one.schema === schema))
  return [
    ...missing.map((schema) => ({
      what: `create the schema ${schema} and its tables`,
      text:
        schema === "vitamin"
          ? creation
          : `create schema if not exists ${schema}; create table ${schema}.attempt ()`,
      grant: `grant create on database ${database} to ${user}`,
    })),
    ...tables.flatMap((table) => writesOf(table, user)),
    ...(missing.includes("vitamin")
      ? []
      : [
          {
            what: "use the sequence vitamin.epoch",
            text: "select nextval('vitamin.epoch')",
            grant: `grant usage on all sequences in schema vitamin to ${user}`,
          },
        ]),
    ...(isOld
      ? [
          {
            what: "change the tables, which are of an older version",
            text: "comment on table vitamin.version is null",
            grant: `grant ${owner} to ${user}`,
          },
        ]
      : []),
    {
      what: "send notifications",
      text: "select pg_notify('vitamin_doctor', '')",
      grant: `grant execute on function pg_notify to ${user}`,
    },
  ]
}

/** Rights are checked also if no row is meant, and no other process has to wait. */
function writesOf({ schema, table, column }: Table, user: string): Attempt[] {
  const name = `${schema}.${table}`
  const grant = `grant usage on schema ${schema} to ${user}; grant select, insert, update, delete on all tables in schema ${schema} to ${user}`
  const own = { grant, isWrite: true }
  return [
    {
      ...own,
      what: `insert into ${name}`,
      text: `insert into ${name} overriding system value select * from ${name} where false`,
    },
    {
      ...own,
      what: `update ${name}`,
      text: `update ${name} set ${column} = ${column} where false`,
    },
    { ...own, what: `delete from ${name}`, text: `delete from ${name} where false` },
  ]
}

/** Each with a column that can be set. */
async function tablesIn(client: Client, schemas: string[]): Promise<Table[]> {
  const text = `select n.nspname as schema, quote_ident(c.relname) as table,
      (select quote_ident(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and a.attidentity = '' and a.attgenerated = '' order by a.attnum limit 1) as column
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and c.relkind = 'r' order by 1, 2`
  return (await client.query<Table>(text, [schemas])).rows
}
