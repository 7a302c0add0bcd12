// What a session knows of files: in which version it read or wrote each. A change by somebody else is found by that.
// The versions are part of the stored results of the tools, and of the files that a person pointed at, so that a later
// process knows them too.
import { hash } from "node:crypto"
import { type BigIntStats, fstatSync, readlinkSync, readSync, realpathSync } from "node:fs"
import { relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"

/** `file` is its real path from the worktree. */
export type Version = { file: string; id: string }
type Seen = { ids: Map<string, string>; loaded?: Promise<void> }

/** A larger file is known by its numbers, not by its content. */
const maxHashed = 1 << 20
/** Those that were used last; others can be loaded again. */
const maxSessions = 100
const sessions = Instance.state(() => new Map<string, Seen>())

class Changed extends NamedError {
  constructor(path: string) {
    super(
      "Tool.Changed",
      `${JSON.stringify(path)} has changed since it was read; read it again, then make the change.`,
      { path },
    )
  }
}

/** Note the version of an open file. To be called before it is read: a change from then on counts as one. */
export function see(sessionId: string, file: { fd: number; path: string }): Version {
  const stat = fstatSync(file.fd, { bigint: true })
  const path = file.path.startsWith("/proc/self/fd/") ? readlinkSync(file.path) : realpathSync(file.path)
  return note(sessionId, {
    path,
    id: idOf(stat, stat.size <= maxHashed ? contentOf(file.fd, stat) : undefined),
  })
}

/** Note a version that is known already. */
export function note(sessionId: string, { path, id }: { path: string; id: string }): Version {
  const file = relative(Instance.worktree, path)
  seenBy(sessionId).ids.set(file, id)
  return { file, id }
}

/** By content where that is known, so that a file that was only touched is the same. */
export function idOf(stat: Pick<BigIntStats, "size" | "mtimeNs" | "ino">, bytes: Buffer | undefined): string {
  if (bytes && bytes.length <= maxHashed) return hash("sha256", bytes, "base64url").slice(0, 22)
  return [stat.mtimeNs, stat.size, stat.ino].map((number) => number.toString(36)).join(".")
}

/** What earlier processes noted is taken from the results that they stored. */
export async function load(sessionId: string): Promise<void> {
  const seen = seenBy(sessionId)
  seen.loaded ??= fill(seen, sessionId)
  await seen.loaded
}

/** All that earlier processes noted, the oldest first, from whoever knows it: `load` need not read the session then. */
export function learn(sessionId: string, versions: readonly Version[]): void {
  const seen = seenBy(sessionId)
  if (seen.loaded) return
  addOlder(seen, versions)
  seen.loaded = Promise.resolve()
}

/** The versions that messages tell of, in their order. */
export function versionsIn(messages: readonly Message.Info[]): Version[] {
  return messages.flatMap(versionIn)
}

/** Throws `Changed` where the session knows the file in another version. After `load`. */
export function refuseChanged(sessionId: string, now: { path: string; id: string; shown: string }): void {
  const known = seenBy(sessionId).ids.get(relative(Instance.worktree, now.path))
  if (known !== undefined && known !== now.id) throw new Changed(now.shown)
}

async function fill(seen: Seen, sessionId: string): Promise<void> {
  try {
    addOlder(seen, versionsIn(await MessageStore.list(sessionId)))
  } catch (error) {
    delete seen.loaded
    throw error
  }
}

/** What this process noted by itself is newer. */
function addOlder({ ids }: Seen, versions: readonly Version[]): void {
  for (const { file, id } of versions.toReversed()) if (!ids.has(file)) ids.set(file, id)
}

function seenBy(sessionId: string): Seen {
  const all = sessions()
  const seen = all.get(sessionId) ?? { ids: new Map() }
  all.delete(sessionId)
  all.set(sessionId, seen)
  if (all.size > maxSessions) all.delete(all.keys().next().value!)
  return seen
}

function contentOf(fd: number, stat: BigIntStats): Buffer {
  const bytes = Buffer.allocUnsafe(Number(stat.size))
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
}

function versionIn(message: Message.Info): Version[] {
  if (message.type === "file_reference") return message.data.version ? [message.data.version] : []
  if (message.type !== "tool_result" || message.data.status !== "success") return []
  const { data } = (message.data.metadata ?? {}) as { data?: { version?: Partial<Version> } | null }
  const { file, id } = data?.version ?? {}
  return typeof file === "string" && typeof id === "string" ? [{ file, id }] : []
}
