// The parent of a guest as a process of its own, so that its memory can be measured: the guest is whoever holds the other
// end of descriptor 3. Prints the id of the session.
import { Socket } from "node:net"
import { createGuest } from "#edge/sandbox/host/create-guest.ts"
import { runInside } from "#edge/sandbox/host/run-inside.ts"
import { bootstrap } from "#engine/host/bootstrap.ts"
import * as Session from "#engine/session/session.ts"

await bootstrap(process.argv[2]!, async () => {
  const session = await Session.create()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const guest = createGuest({
    stream: new Socket({ fd: 3 }),
    status: { isolated: true, missing: [] },
    ended,
    stop: async () => end("it was stopped"),
    disarm: async () => ({ renamed: [], isPartial: false }),
  })
  const work = {
    sessionId: session.id,
    parts: [{ type: "text" as const, text: "go" }],
    timing: { stall: 1_000, keepEvery: 1_000, reply: 1_000, wait: () => 0 },
    command: undefined,
    asks: "wait" as const,
  }
  const run = runInside(Promise.resolve(guest), work, {
    signal: new AbortController().signal,
    timeout: undefined,
  })
  console.log(session.id)
  await run.catch((error: Error) => console.log(`${error.name}: ${error.message}`))
})
