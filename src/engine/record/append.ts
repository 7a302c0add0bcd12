// Messages are added to the history of a session and written to the disk in the background. What could not be written ends
// the work: nobody goes on with a history that the disk does not have.
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Work = { readonly progress: { history: Message.Info[]; records: Records } }

/** Those that nobody has waited for yet, and what went wrong with the first that could not be kept. */
export type Records = {
  pending: Set<Promise<void>>
  failed?: { error: unknown }
  /** Files that calls changed. */
  changed?: Set<string>
}

/** The last message of the history, which the next one follows. */
export function lastId({ progress }: Work): string | null {
  return progress.history.at(-1)?.id ?? null
}

/** Add a message to the history and keep it. Nobody waits for the disk here; `settle` does. */
export function append(run: Work, message: Message.Info): void {
  run.progress.history.push(message)
  keep(run.progress.records, MessageStore.write(message))
}

/** Let a record be written in the background. That it failed is told by `settle` and `throwIfLost`. */
export function keep(records: Records, work: Promise<unknown>): void {
  const tracked: Promise<void> = work
    .then(
      () => {},
      (error) => {
        records.failed ??= { error }
      },
    )
    .then(() => void records.pending.delete(tracked))
  records.pending.add(tracked)
}

/** Wait for every record that is on its way; the first that failed is thrown. */
export async function settle(records: Records): Promise<void> {
  while (records.pending.size) await Promise.all(records.pending)
  throwIfLost(records)
}

/** What cannot be kept must not go on. */
export function throwIfLost({ failed }: Records): void {
  if (failed) throw failed.error
}
