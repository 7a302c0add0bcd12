// The approval preset that the person chose, and how it reaches the session. The mode of a session changes only between
// two turns: what is chosen during a turn is applied when it has ended.
import { type Client, ClientError, type PermissionGrant, type Session } from "#client/client.ts"
import type { Preset } from "#edge/tui/command/preset.ts"

type Options = {
  client: Pick<Client, "setMode" | "allowEdits" | "listGrants">
  preset: Preset
  session(): Session | undefined
  changed(session: Session): void
}

/** The event that ends a turn comes a moment before the session is free. */
const retries = 20
const pause = 50

export function createApproval({ client, session, changed, ...first }: Options) {
  let { preset } = first
  let acceptsEdits = false
  let last: Promise<void> = Promise.resolve()
  let running = 0

  /** One change after the other, so that the last choice is the one that stays. */
  function apply(attempts = 1): Promise<void> {
    running++
    last = last.catch(() => {}).then(() => bring(attempts))
    return last.finally(() => running--)
  }

  async function bring(attempts: number): Promise<void> {
    const now = session()
    if (!now) return
    const isAllowed = preset === "accept edits"
    if (isAllowed !== acceptsEdits) await client.allowEdits({ id: now.id, isAllowed })
    acceptsEdits = isAllowed
    if (now.mode !== modeOf(preset)) await setMode(now.id, attempts)
  }

  async function setMode(id: string, attempts: number): Promise<void> {
    try {
      changed(await client.setMode({ id, mode: modeOf(preset) }))
    } catch (error) {
      if (!(error instanceof ClientError && error.name === "Session.Busy")) throw error
      if (attempts <= 1) return
      await new Promise((resolve) => setTimeout(resolve, pause))
      await setMode(id, attempts - 1)
    }
  }

  /** The preset of a session that another program has put into this mode. */
  function follow(mode: Session["mode"]): void {
    if (running === 0 && mode !== modeOf(preset)) preset = mode === "plan" ? "plan" : "ask"
  }

  /** The session works in the other mode until its turn has ended. */
  function isLate(): boolean {
    const now = session()
    return now !== undefined && now.mode !== modeOf(preset)
  }

  return Object.freeze({
    get preset() {
      return preset
    },
    /** For the status line. With `--yes` nothing is asked. */
    label({ isBusy, isYes }: { isBusy: boolean; isYes: boolean }): string {
      const text = isYes && preset !== "plan" ? "yes to all" : preset
      return isBusy && isLate() ? `${text} from the next turn on` : text
    },
    apply,
    choose(next: Preset): Promise<void> {
      preset = next
      return apply()
    },
    follow,
    /** The person has answered a question with "all edits". */
    acceptedEdits(): void {
      acceptsEdits = true
      if (preset === "ask") preset = "accept edits"
    },
    /** After a turn. */
    async catchUp(): Promise<void> {
      if (isLate()) await apply(retries)
    },
    /** A new session: edits are not allowed there yet. */
    begin(): void {
      acceptsEdits = false
    },
    /** Another session: what was allowed there earlier counts, and is shown. */
    async read(): Promise<void> {
      const id = session()?.id
      const grants = await client.listGrants()
      if (session()?.id !== id) return
      acceptsEdits = grants.some((grant) => grant.sessionId === id && isAllEdits(grant))
      if (acceptsEdits && preset === "ask") preset = "accept edits"
      await apply()
    },
  })
}

function isAllEdits({ scope, permission, pattern }: PermissionGrant): boolean {
  return scope === "session" && pattern === "**" && /^file\.(edit|write)$/.test(permission)
}

function modeOf(preset: Preset): Session["mode"] {
  return preset === "plan" ? "plan" : "act"
}
