// The connection is back. If the server was restarted meanwhile, the turn that it ran is over, and no event says so.
import type { Client, StreamEvent } from "#client/client.ts"
import type { Conversation } from "./conversation.ts"

type Options = { client: Client; talk: Conversation; apply(event: StreamEvent): void }

/** Milliseconds: the events that were missed come first. */
const replayTime = 1_000

/** Applies the event that ends the turn, if it is over. */
export async function endLostTurn({ client, talk, apply }: Options): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, replayTime))
  const id = talk.session?.id
  if (id === undefined || talk.busySince === undefined) return
  const { status, directory } = await client.getSession({ id })
  if (status === "busy" || status === "waiting") return
  const error = { name: "Session.Interrupted", message: "The server has ended during the turn." }
  apply({ id: 0, type: "session.error", time: Date.now(), directory, payload: { sessionId: id, error } })
}
