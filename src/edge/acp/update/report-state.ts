// Reports changes of a session's title, mode and options.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { infoUpdate } from "./replay.ts"
import { type SessionOptions, sessionOptions, type Wish } from "./session-options.ts"

export function createStateReporter(options: {
  sessionId: string
  send(update: SessionUpdate): void
  /** Options that are set but not stored yet. */
  wished(): Wish
}) {
  const { sessionId, send, wished } = options
  let known: Session.Info | undefined
  let reporting = Promise.resolve()
  let changes = 0
  let isOver = false
  // What a client got when it opened the session is not sent again, unless it changes.
  void Session.get(sessionId).then(
    (session) => {
      known ??= session
    },
    () => {},
  )

  function change(record: Session.Info): void {
    const session = { ...record, ...wished() }
    const before = known
    known = session
    const { title, mode, model, agent } = session
    if (title && title !== before?.title) send(infoUpdate(session))
    if (mode !== before?.mode) send({ sessionUpdate: "current_mode_update", currentModeId: mode })
    if (before && (mode !== before.mode || model !== before.model || agent !== before.agent))
      reporting = reportOptions(++changes)
  }

  async function reportOptions(change: number): Promise<void> {
    try {
      const { configOptions } = await optionsNow()
      // Another change reports itself.
      if (!isOver && change === changes) send({ sessionUpdate: "config_option_update", configOptions })
    } catch (error) {
      Log.warn("the options of a session could not be told", { error: errorText(error) })
    }
  }

  /** More may be set during the lookup. */
  async function optionsNow(): Promise<SessionOptions> {
    const session = { ...known!, ...wished() }
    const found = await sessionOptions(session)
    const now = { ...known!, ...wished() }
    const isSame = (["mode", "model", "agent"] as const).every((name) => now[name] === session[name])
    return isSame ? found : optionsNow()
  }

  function stop(): void {
    isOver = true
  }

  /** Resolves when all changes were sent. */
  function told(): Promise<void> {
    return reporting
  }

  return Object.freeze({ change, told, stop })
}
