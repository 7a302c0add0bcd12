// Small files beside the store. Each session has a list of the hashes that its snapshots need, which pruning keeps. Each
// call that has begun has a record until its result is stored, so that its changes can be recovered after a crash.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import * as Storage from "#kernel/storage/storage.ts"
import { errorCode } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { Part, State } from "./part.ts"
import type { Shadow } from "./shadow.ts"

const Pending = z.object({
  sessionId: z.string(),
  messageId: z.string(),
  callId: z.string(),
  part: Part,
  base: z
    .object({
      index: z.string().optional(),
      version: z.string().optional(),
      started: z.number(),
      odd: z.array(z.string()),
      files: z.record(z.string(), z.object({ state: State, stamp: z.string().optional() })),
      folders: z
        .object({
          modes: z.record(z.string(), z.number()),
          special: z.record(z.string(), z.string()),
          closed: z.array(z.string()),
        })
        .optional(),
    })
    .optional(),
})
export type Pending = z.infer<typeof Pending>

/** Records that a session needs the content with these hashes. */
export function addHashes(
  shadow: Pick<Shadow, "folder" | "named" | "unsent">,
  sessionId: string,
  hashes: (string | undefined)[],
): void {
  const named = shadow.named.get(sessionId) ?? new Set()
  shadow.named.set(sessionId, named)
  const fresh = [...new Set(hashes)].filter((hash) => hash !== undefined && !named.has(hash))
  if (!fresh.length) return
  mkdirSync(join(shadow.folder, "session"), { recursive: true, mode: 0o700 })
  appendFileSync(join(shadow.folder, "session", sessionId), `${fresh.join("\n")}\n`, { mode: 0o600 })
  for (const hash of fresh) named.add(hash!)
  if (!Storage.sharedDatabase()) return
  shadow.unsent.set(sessionId, (shadow.unsent.get(sessionId) ?? new Set()).union(new Set(fresh as string[])))
}

export function removeSession(shadow: Shadow, sessionId: string): void {
  shadow.named.delete(sessionId)
  shadow.unsent.delete(sessionId)
  rmSync(join(shadow.folder, "session", sessionId), { force: true })
  for (const pending of readPending(shadow))
    if (pending.sessionId === sessionId) removePending(shadow, pending)
}

export function writePending(shadow: Shadow, pending: Pending): void {
  const folder = join(shadow.folder, "pending")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const aside = join(folder, createId("tmp"))
  writeFileSync(aside, JSON.stringify(pending), { mode: 0o600 })
  renameSync(aside, join(folder, `${pending.part.id}.json`))
}

export function removePending(shadow: Shadow, { part }: Pick<Pending, "part">): void {
  rmSync(join(shadow.folder, "pending", `${part.id}.json`), { force: true })
}

/** The calls of this work tree that have begun and whose result is not stored. An unreadable record is deleted. */
export function readPending(shadow: Shadow): Pending[] {
  const folder = join(shadow.folder, "pending")
  return namesIn(folder).flatMap((name) => {
    if (!name.endsWith(".json")) return []
    try {
      const pending = Pending.parse(JSON.parse(readFileSync(join(folder, name), "utf8")))
      return pending.part.root === shadow.place ? [pending] : []
    } catch (error) {
      if (errorCode(error) === undefined) rmSync(join(folder, name), { force: true })
      return []
    }
  })
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return []
    throw error
  }
}
