// Reports changes of a session's title, mode and options.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { infoUpdate } from "./replay.ts"
import { type OptionChange, type SessionOptions, sessionOptions } from "./session-options.ts"

export function createStateReporter(options: {
  sessionId: string
  send(update: SessionUpdate): void
  /** Options that are set but not stored yet. */
  pendingOptions(): OptionChange
}) {
  const { sessionId, send, pendingOptions } = options
  let known: Session.Info | undefined
  let reporting = Promise.resolve()
  let changes = 0
  let isOver = false
  // The client got the current state when it opened the session; only changes are sent.
  void Session.get(sessionId).then(
    (session) => {
      known ??= session
    },
    () => {},
  )

  function change(record: Session.Info): void {
    const session = { ...record, ...pendingOptions() }
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
      // A later change has started a report of its own.
      if (!isOver && change === changes) send({ sessionUpdate: "config_option_update", configOptions })
    } catch (error) {
      Log.warn("the options of a session could not be reported", { error: errorText(error) })
    }
  }

  /** Repeats the lookup if an option was set meanwhile. */
  async function optionsNow(): Promise<SessionOptions> {
    const session = { ...known!, ...pendingOptions() }
    const found = await sessionOptions(session)
    const now = { ...known!, ...pendingOptions() }
    const isSame = (["mode", "model", "agent"] as const).every((name) => now[name] === session[name])
    return isSame ? found : optionsNow()
  }

  function stop(): void {
    isOver = true
  }

  /** Resolves when all option changes are sent. */
  function flushed(): Promise<void> {
    return reporting
  }

  return Object.freeze({ change, flushed, stop })
}
