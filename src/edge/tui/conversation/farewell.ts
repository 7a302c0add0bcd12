// Ends the work of a terminal that leaves. A turn in this process ends with it; one on a server goes on, since others may
// watch it.
import { finishSoon } from "#util/wait.ts"
import type { Conversation } from "./conversation.ts"

type Options = {
  talk: Pick<Conversation, "session" | "busySince" | "stop">
  /** How the person calls the program. */
  command: string
  isPlain: boolean
  server?: string | undefined
  /** The connection to the server is lost. */
  isLost: boolean
}

/** Returns what to tell the person. */
export async function farewell({ talk, command, isPlain, server, isLost }: Options): Promise<string[]> {
  const goesOn = server !== undefined && talk.busySince !== undefined && !isLost
  if (server === undefined) await finishSoon(talk.stop())
  const id = talk.session?.id.slice(0, 13)
  const call = server === undefined ? command : `${command} attach ${server}`
  return [
    ...(goesOn ? [`The turn goes on at ${server}.`] : []),
    ...(id ? [`Go on with: ${call}${isPlain ? " --plain" : ""} --session ${id}`] : []),
  ]
}
