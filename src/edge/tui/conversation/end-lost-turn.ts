// Events were missed, or the server was restarted. If the turn is over, and no event says so, this does.
import type { Client, Session, StreamEvent } from "#client/client.ts"
import { type Conversation, isWorking } from "./conversation.ts"

type Options = { client: Client; talk: Conversation; apply(event: StreamEvent): void }

/** Milliseconds: the events that can be replayed come first. */
const replayTime = 1_000

/** Applies the event that ends the turn, if it is over. */
export async function endLostTurn({ client, talk, apply }: Options): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, replayTime))
  const id = talk.session?.id
  if (id === undefined || talk.busySince === undefined) return
  const session = await client.getSession({ id })
  if (isWorking(session)) return
  const { directory } = session
  apply({
    id: 0,
    time: Date.now(),
    directory,
    type: "session.updated",
    payload: { sessionId: id, session },
  })
  apply(endOf(session))
}

function endOf({ id: sessionId, status, error, directory }: Session): StreamEvent {
  const common = { id: 0, time: Date.now(), directory }
  if (status === "idle") return { ...common, type: "session.idle", payload: { sessionId } }
  const lost = { name: "Session.Interrupted", message: "The server has ended during the turn." }
  return { ...common, type: "session.error", payload: { sessionId, error: error ?? lost } }
}
