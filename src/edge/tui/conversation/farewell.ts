// Ends the work of a terminal that leaves. A turn in this process ends with it; one on a server goes on, since others may
// watch it.
import type { Client } from "#client/client.ts"
import { finishSoon } from "#util/wait.ts"
import type { Conversation } from "./conversation.ts"

type Options = {
  client: Client
  talk: Pick<Conversation, "session" | "busySince" | "stop">
  /** How the person calls the program. */
  command: string
  isPlain: boolean
  server?: string | undefined
  /** The connection to the server is lost. */
  isLost: boolean
}

/** Returns what to tell the person. */
export async function farewell({
  client,
  talk,
  command,
  isPlain,
  server,
  isLost,
}: Options): Promise<string[]> {
  const goesOn = server !== undefined && talk.busySince !== undefined && !isLost
  const { session } = talk
  if (server === undefined) await finishSoon(talk.stop())
  if (server === undefined && session)
    await finishSoon(client.leaveSession({ id: session.id, reason: "prompt_input_exit" }))
  const id = session?.id.slice(0, 13)
  const call = server === undefined ? command : `${command} attach ${server}`
  return [
    ...(goesOn ? [`The turn goes on at ${server}.`] : []),
    ...(id ? [`Go on with: ${call}${isPlain ? " --plain" : ""} --session ${id}`] : []),
  ]
}
