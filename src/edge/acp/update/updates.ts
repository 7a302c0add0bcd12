// The updates (`session/update`) that an editor gets about a session.
import type { SessionUpdate } from "@agentclientprotocol/sdk"

export { toolCallOf } from "#edge/acp/show/tool-call-of.ts"
export { availableCommands } from "./commands.ts"
export { followSession } from "./follow-session.ts"
export { replay } from "./replay.ts"

/** Sends one update. Updates arrive in the order of the calls; sending never throws. */
export type Send = (update: SessionUpdate) => void
