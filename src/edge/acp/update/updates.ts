// What an editor hears of a session, as `session/update` of the Agent Client Protocol.
import type { SessionUpdate } from "@agentclientprotocol/sdk"

export { toolCallOf } from "#edge/acp/show/tool-call-of.ts"
export { availableCommands } from "./commands.ts"
export { followSession } from "./follow-session.ts"
export { replay } from "./replay.ts"

/** Takes one update. The order is kept by who is called; it never throws. */
export type Send = (update: SessionUpdate) => void
