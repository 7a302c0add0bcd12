// Snapshots for a guest: its parent takes them, because their store lies outside of the sandbox.
import { isDeepStrictEqual } from "node:util"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { Handle, Take } from "#edge/sandbox/wire/doors.ts"
import type { PromptSessions } from "./prompt-sessions.ts"
import { Refused } from "./refused.ts"

const mostOpen = 200

export function createSnapshotDoors(sessions: PromptSessions) {
  const open = new Map<number, Snapshot.Taken>()
  /** Every state of every snapshot that the guest was given, by id. */
  const given = new Map<string, unknown[]>()
  let last = 0

  function give(part: Snapshot.Part): Snapshot.Part {
    given.set(part.id, [...(given.get(part.id) ?? []), JSON.parse(JSON.stringify(part))])
    return part
  }

  async function take(args: unknown): Promise<{ handle: number; part: Snapshot.Part } | null> {
    const asked = Take.parse(args)
    sessions.get(asked.sessionId)
    if (open.size >= mostOpen) throw new Refused("more snapshots at the same time")
    const taken = await Snapshot.take(asked)
    if (!taken) return null
    const handle = ++last
    open.set(handle, taken)
    return { handle, part: give(taken.part) }
  }

  function find(args: unknown): { handle: number; taken: Snapshot.Taken } {
    const { handle } = Handle.parse(args)
    const taken = open.get(handle)
    if (!taken) throw new Refused("a snapshot that it did not take")
    return { handle, taken }
  }

  async function finish(args: unknown): Promise<Snapshot.Part> {
    return give(await find(args).taken.finish())
  }

  async function close(args: unknown): Promise<void> {
    const { handle, taken } = find(args)
    open.delete(handle)
    taken.close()
  }

  const isOwn = (part: unknown) =>
    given.get(String((part as { id?: unknown } | null)?.id))?.some((one) => isDeepStrictEqual(one, part)) ??
    false
  return Object.freeze({ take, finish, close, isOwn })
}
