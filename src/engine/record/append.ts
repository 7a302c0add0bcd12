// Adds messages to the history of a session and writes them to disk in the background. A failed write ends the prompt: it
// must not continue with a history that is not on disk.

import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Work = { readonly progress: { history: Message.Info[]; records: Records; guards?: Reading | undefined } }
/** The guards of a session read every message. */
type Reading = { read(message: Message.Info): void }

/** Writes that are still pending, and the error of the first one that failed. */
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

export type Write = (message: Message.Info) => Promise<void>

/** Add a message to the history and start writing it. `settle` waits for the disk. */
export function append(run: Work, message: Message.Info, write: Write = MessageStore.write): void {
  run.progress.history.push(message)
  run.progress.guards?.read(message)
  keep(run.progress.records, write(message))
}

/** Write a record in the background. `settle` and `throwIfLost` throw its error. */
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

/** Wait for all pending writes; throws the error of the first one that failed. */
export async function settle(records: Records): Promise<void> {
  while (records.pending.size) await Promise.all(records.pending)
  throwIfLost(records)
}

/** Wait for the writes that are pending now, not for later ones; throws like `settle`. */
export async function stored(records: Records): Promise<void> {
  await Promise.all(records.pending)
  throwIfLost(records)
}

/** A prompt whose messages cannot be written must not continue. */
export function throwIfLost({ failed }: Records): void {
  if (failed) throw failed.error
}

/** Write a message about a change of the session, for people; models never see it. Returns its id. */
export async function writeControl(
  place: { sessionId: string; branch: string; parentId: string | null },
  control: string,
  parameters: Message.JsonObject,
): Promise<string> {
  const message = Message.make({ ...place, type: "system_control", data: { control, parameters } })
  await MessageStore.write(message)
  return message.id
}
