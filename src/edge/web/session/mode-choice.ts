// What a session may do without asking, as one choice. The mode changes only between two turns: what is chosen during a turn
// is applied when it has ended. One change is made at a time, so that the last choice wins.
import { signal } from "@preact/signals"
import { ClientError, type PermissionGrant } from "#client/client.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { putSession } from "#edge/web/store/sessions.ts"

export type Preset = "ask" | "accept edits" | "plan"

export function createModeChoice({ client, id, session }: OpenSession) {
  /** Undefined until it is read. */
  const acceptsEdits = signal<boolean | undefined>(undefined)
  const wanted = signal<Preset | undefined>(undefined)
  /** Counts reads and changes of the grants: an answer that is older than the last of them is dropped. */
  let asked = 0
  let isApplying = false
  /** The turn has ended while a change was made. */
  let isFree = false

  async function readGrants(): Promise<void> {
    const own = ++asked
    const grants = await client.listGrants()
    if (own === asked)
      acceptsEdits.value = grants.some((grant) => grant.sessionId === id && isAllEdits(grant))
  }

  async function set(preset: Preset): Promise<void> {
    const isAllowed = preset === "accept edits"
    if (isAllowed !== acceptsEdits.value) await client.allowEdits({ id, isAllowed })
    asked++
    acceptsEdits.value = isAllowed
    const next = preset === "plan" ? "plan" : "act"
    if (session().mode !== next) putSession(await client.setMode({ id, mode: next }))
  }

  async function apply(): Promise<void> {
    if (isApplying) return
    isApplying = true
    try {
      while (wanted.value) {
        const preset = wanted.value
        isFree = false
        const problem = await set(preset).catch((error: unknown) => error)
        if (isBusy(problem) && !isFree) return
        if (!isBusy(problem) && wanted.value === preset) wanted.value = undefined
        if (problem && !isBusy(problem)) throw problem
      }
    } finally {
      isApplying = false
    }
  }

  return Object.freeze({
    readGrants,
    shown(): Preset {
      return (
        wanted.value ?? (session().mode === "plan" ? "plan" : acceptsEdits.value ? "accept edits" : "ask")
      )
    },
    choose(preset: Preset): Promise<void> {
      wanted.value = preset
      return apply()
    },
    /** After the end of a turn. */
    continue(): Promise<void> {
      isFree = true
      return apply()
    },
  })
}

function isBusy(error: unknown): boolean {
  return error instanceof ClientError && error.name === "Session.Busy"
}

function isAllEdits({ scope, permission, pattern }: PermissionGrant): boolean {
  return scope === "session" && pattern === "**" && /^file\.(edit|write)$/.test(permission)
}
