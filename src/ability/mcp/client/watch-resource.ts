// Tells of changes of one resource until the loop over it is left. The revisions of the protocol differ in how a client
// asks for that; the notifications are the same.
import { EventEmitter, on } from "node:events"
import { type Connection, isLegacy } from "./connection.ts"

export async function* watchResource(
  getConnection: () => Promise<Connection>,
  uri: string,
): AsyncGenerator<{ uri: string }> {
  const { client, updates } = await getConnection()
  const emitter = new EventEmitter()
  const ending = new AbortController()
  // Listening begins before the server is asked, so that no change falls in between.
  const changes = on(emitter, "change", { signal: ending.signal })
  const listener = (changed: string) => void (changed === uri && emitter.emit("change"))
  updates.add(listener)
  const stop = isLegacy(client)
    ? await client.subscribeResource({ uri }).then(() => () => client.unsubscribeResource({ uri }))
    : await client.listen({ resourceSubscriptions: [uri] }).then((subscription) => () => subscription.close())
  try {
    for await (const _ of changes) yield { uri }
  } finally {
    updates.delete(listener)
    ending.abort()
    await Promise.resolve(stop()).catch(() => {})
  }
}
