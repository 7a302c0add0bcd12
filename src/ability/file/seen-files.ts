// The versions of files that a session has read or written, to detect changes by somebody else. They are part of the
// stored results of tools and attachments, so a later process knows them too.
import { hash } from "node:crypto"
import { type BigIntStats, fstatSync, readlinkSync, readSync, realpathSync } from "node:fs"
import { relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { NamedError } from "#util/error.ts"

/** `file` is the real path relative to the worktree. */
export type Version = { file: string; id: string }
type Seen = { ids: Map<string, string>; loaded?: Promise<void> }

/** A larger file is identified by its size and times, not by its content. */
export const maxHashed = 1 << 20
/** The most recently used sessions are kept; the others are loaded again when needed. */
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

/** Note the version of an open file. Must be called before it is read, so that later changes are detected. */
export function see(sessionId: string, file: { fd: number; path: string }): Version {
  const stat = fstatSync(file.fd, { bigint: true })
  const path = file.path.startsWith("/proc/self/fd/") ? readlinkSync(file.path) : realpathSync(file.path)
  return note(sessionId, {
    path,
    id: idOf(stat, stat.size <= maxHashed ? contentOf(file.fd, stat) : undefined),
  })
}

/** Note a version that is already known. */
export function note(sessionId: string, { path, id }: { path: string; id: string }): Version {
  const file = relative(Instance.worktree, path)
  seenBy(sessionId).ids.set(file, id)
  return { file, id }
}

/** Compares content if it is known, so that a file that was only touched counts as the same. */
export function idOf(stat: Pick<BigIntStats, "size" | "mtimeNs" | "ino">, bytes: Buffer | undefined): string {
  if (bytes && bytes.length <= maxHashed) return hash("sha256", bytes, "base64url").slice(0, 22)
  return [stat.mtimeNs, stat.size, stat.ino].map((number) => number.toString(36)).join(".")
}

/** Loads the versions that earlier processes noted, from the session's messages. */
export async function load(sessionId: string): Promise<void> {
  const seen = seenBy(sessionId)
  seen.loaded ??= fill(seen, sessionId)
  await seen.loaded
}

/** Sets the versions that earlier processes noted, oldest first, so that `load` need not read the session's messages. */
export function learn(sessionId: string, versions: readonly Version[]): void {
  const seen = seenBy(sessionId)
  if (seen.loaded) return
  addOlder(seen, versions)
  seen.loaded = Promise.resolve()
}

/** The versions in messages, in order. */
export function versionsIn(messages: readonly Message.Info[]): Version[] {
  return messages.flatMap(versionIn)
}

/** Throws `Changed` if the session knows the file in another version. Call after `load`. */
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

/** Adds versions of earlier processes. They never replace a version that this process noted. */
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
