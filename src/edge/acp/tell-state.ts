// How a session stands: its title, its mode, and what else a client can choose, told when it changes.
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/log.ts"
import { errorText } from "#util/error.ts"
import { infoUpdate } from "./replay.ts"
import { sessionOptions } from "./session-options.ts"

export function createStateTeller(sessionId: string, send: (update: SessionUpdate) => void) {
  let known: Session.Info | undefined
  let isOver = false
  // What a client was told when it opened the session is not told again, unless something happens at this moment.
  void Session.get(sessionId).then(
    (session) => {
      known ??= session
    },
    () => {},
  )

  function change(session: Session.Info): void {
    const before = known
    known = session
    const { title, mode, model, agent } = session
    if (title && title !== before?.title) send(infoUpdate(session))
    if (mode !== before?.mode) send({ sessionUpdate: "current_mode_update", currentModeId: mode })
    if (before && (mode !== before.mode || model !== before.model || agent !== before.agent))
      void tellOptions(session)
  }

  async function tellOptions(session: Session.Info): Promise<void> {
    try {
      const { configOptions } = await sessionOptions(session)
      // Another change tells of itself.
      if (!isOver && session === known) send({ sessionUpdate: "config_option_update", configOptions })
    } catch (error) {
      Log.warn("the options of a session could not be told", { error: errorText(error) })
    }
  }

  function stop(): void {
    isOver = true
  }

  return Object.freeze({ change, stop })
}
