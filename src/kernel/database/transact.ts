// A transaction that is committed once, also if the connection is lost meanwhile: the database tells afterwards whether it
// has committed it, and what was certainly not committed is done again from the beginning.
import { setTimeout as sleep } from "node:timers/promises"
import { errorCode } from "#util/error.ts"
import { type Client, type Connection, patience as usual } from "./connection.ts"
import { isLost, Uncertain } from "./errors.ts"

/** `id` is set before "commit" is sent. Without one, nothing can have been committed. A crash of PostgreSQL may give the id
 * of a transaction that it lost to a new one, so `isThere` reads whether the changes are there; undefined if that cannot be
 * told any more. */
export type Transaction = { id?: string; isThere?: (client: Client) => Promise<boolean | undefined> }

/** The id is newer than any that PostgreSQL knows: it has lost the transaction in a crash. */
const unknownId = "22023"
/** Transactions that PostgreSQL ended in favour of another one. */
const conflicts = new Set(["40001", "40P01"])
const mostConflicts = 5

/** `patience`: milliseconds that a database may be away, counted from when that is noticed. `signal` ends the patience.
 * Throws `Uncertain` if it is not known whether the transaction is committed: doing it again could do it twice. */
export async function transact(
  connection: Connection,
  attempt: (client: Client, transaction: Transaction) => Promise<void>,
  { patience = usual, signal }: { patience?: number; signal?: AbortSignal } = {},
): Promise<void> {
  let deadline: number | undefined
  for (let wait = 20, losers = 0; ; wait = Math.min(wait * 2, 500)) {
    const transaction: Transaction = {}
    try {
      return await attempt(await connection.client(), transaction)
    } catch (error) {
      const isConflict = conflicts.has(errorCode(error) ?? "") && ++losers < mostConflicts
      if (!isConflict && !isLost(error)) throw error
      deadline ??= performance.now() + patience
      const isLate = () => signal?.aborted || performance.now() + wait > deadline!
      if (transaction.id !== undefined && (await isCommitted(connection, transaction, isLate))) return
      if (isLate()) throw error
      await sleep(wait)
    }
  }
}

/** Waits for all answers of a pipeline; throws the first error. */
export async function settle<T>(queries: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(queries)
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason
    return one.value
  })
}

/** A transaction that still runs ends soon: its connection is gone. */
async function isCommitted(
  connection: Connection,
  { id, isThere }: Transaction,
  isLate: () => boolean | undefined,
): Promise<boolean> {
  for (;;) {
    try {
      const client = await connection.client()
      const text = "select pg_xact_status($1::xid8) as status"
      const { status } = (await client.query<{ status: string }>(text, [id])).rows[0]!
      if (status === "committed") {
        const found = isThere ? await isThere(client) : true
        if (found === undefined) throw new Uncertain(connection.shown)
        return found
      }
      if (status !== "in progress") return false
    } catch (error) {
      if (errorCode(error) === unknownId) return false
      if (!isLost(error)) throw error instanceof Uncertain ? error : new Uncertain(connection.shown, error)
    }
    if (isLate()) throw new Uncertain(connection.shown)
    await sleep(50)
  }
}
