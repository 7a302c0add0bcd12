// Records the changes of calls whose process died. The arguments of `write` and `edit` say what they would have
// written, which proves whether the present file is their work.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cleanFolders } from "#ability/snapshot/restore/open-folder.ts"
import { stateOf } from "#ability/snapshot/scan/state-of.ts"
import { Lost } from "#ability/snapshot/store/errors.ts"
import { type Change, isSame, type Part, type State } from "#ability/snapshot/store/part.ts"
import { readPending, removePending } from "#ability/snapshot/store/session-log.ts"
import * as Shadow from "#ability/snapshot/store/shadow.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { isMixOf } from "#util/file/write-file.ts"
import { finishLate } from "./take.ts"

/** The content that a call would have written to a file with the bytes `before`, if its arguments tell. */
export type ContentAfter = (
  call: Message.Call,
  before: Buffer | undefined,
) => Promise<Buffer | undefined> | Buffer | undefined

const maxBytes = 64_000_000

/** Whether the session has calls that run or were cut off. */
export function hasPending(sessionId: string): boolean {
  return readPending(Shadow.get()).some((pending) => pending.sessionId === sessionId)
}

/** Must only be called for a session that no process works on. */
export async function recover(sessionId: string, contentAfter: ContentAfter): Promise<void> {
  const shadow = Shadow.get()
  for (const pending of readPending(shadow)) {
    if (pending.sessionId !== sessionId) continue
    const request = await MessageStore.get(sessionId, pending.messageId).catch(ifMissing)
    const call =
      request?.type === "tool_request" && request.data.calls.find(({ id }) => id === pending.callId)
    cleanFolders(shadow, pending)
    if (request && call) {
      const part = pending.base
        ? await finishLate(shadow, pending)
        : await prove(shadow, pending.part, (before) => contentAfter(call, before))
      call.snapshot = part as Message.Json
      await MessageStore.write(request)
    }
    removePending(shadow, pending)
  }
}

/** Adds the current state of each file that only the call can have written. */
async function prove(
  shadow: Shadow.Shadow,
  part: Part,
  contentAfter: (before: Buffer | undefined) => ReturnType<ContentAfter>,
): Promise<Part> {
  const files = await Promise.all(part.files.map((file) => proveFile(shadow, file, contentAfter)))
  return { ...part, files, done: true }
}

async function proveFile(
  { root, store }: Shadow.Shadow,
  file: Change,
  contentAfter: (before: Buffer | undefined) => ReturnType<ContentAfter>,
): Promise<Change> {
  const { path, before } = file
  const now = stateOf({ root, store }, path, { maxBytes })
  if (isSame(now, before)) return { ...file, after: now }
  if (now?.kind !== "file") return file
  const old = before?.hash ? await store.read(before.hash).catch(ifLost) : undefined
  if (before && !old) return file
  const content = await contentAfter(old)
  if (!content) return file
  const isWhole = now.hash === store.hashOf(content)
  const isHalf = () => old && isSameFile(before, now) && isMixOf(readFileSync(join(root, path)), old, content)
  if (!isWhole && !isHalf()) return file
  // The tool keeps the mode of a file: with another one somebody else has changed it since.
  return { ...file, after: before ? { ...now, mode: before.mode } : now }
}

/** A file with several names is written in place, and that can be cut off halfway. */
function isSameFile(before: State, now: NonNullable<State>): boolean {
  return before?.inode !== undefined && before.inode === now.inode
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Storage.NotFound || error instanceof Storage.Corrupt)) throw error
}

function ifLost(error: unknown): undefined {
  if (!(error instanceof Lost)) throw error
}
