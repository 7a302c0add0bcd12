// What tests of lying guests share: the parent runs a prompt "in" a guest, and the test is the guest.
import assert from "node:assert/strict"
import { type Duplex, duplexPair } from "node:stream"
import { createGuest, type Guest } from "#edge/sandbox/host/create-guest.ts"
import { runInside } from "#edge/sandbox/host/run-inside.ts"
import { createPeer, type Peer } from "#edge/sandbox/wire/peer.ts"
import { bootstrap } from "#engine/host/bootstrap.ts"
import type { Work } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** `parts` are the notes with parts of answers, `told` those with records. */
export type Lie = {
  peer: Peer
  /** What the proxy does when a program in the guest connects to a host. */
  checkUrl: Guest["checkUrl"]
  stream: Duplex
  session: Session.Info
  other: Session.Info
  parts: unknown[]
  told: unknown[]
}

/** Runs a prompt whose guest does `lie`. Returns the error of the prompt, after `after` has looked at its session. */
export async function withGuest(
  lie: (guest: Lie) => Promise<unknown>,
  {
    after = async () => {},
    ...given
  }: { after?: (session: Session.Info) => Promise<void> } & Partial<Pick<Work, "maxCost">> = {},
): Promise<Error> {
  let failed: unknown
  const parts: unknown[] = []
  const told: unknown[] = []
  await using tmp: Tmp = await tmpdir({ git: true })
  return await bootstrap(tmp.path, async () => {
    const [session, other] = [await Session.create(), await Session.create()]
    const [ours, theirs] = duplexPair()
    const { promise: ended, resolve: end } = Promise.withResolvers<string>()
    const guest = createGuest({
      stream: ours,
      status: { isolated: true, missing: [] },
      ended,
      stop: async () => end("the test ended it"),
      disarm: async () => ({ renamed: [], isPartial: false }),
    })
    const peer: Peer = createPeer(theirs, {
      async ask() {
        await lie({ peer, checkUrl: guest.checkUrl, stream: theirs, session, other, parts, told }).catch(
          (error) => {
            failed = error
          },
        )
        return { messageId: "none" }
      },
      note: (name, args) => void (name === "parts" ? parts : told).push(args),
    })
    const work = {
      sessionId: session.id,
      parts: [{ type: "text" as const, text: "go" }],
      timing: { stall: 1_000, keepEvery: 1_000, reply: 1_000, wait: () => 0 },
      command: undefined,
      asks: "wait" as const,
      ...given,
    }
    const signal = new AbortController().signal
    const run = runInside(Promise.resolve(guest), work, { signal, timeout: 20_000 })
    const error = await run.then(
      () => assert.fail("the prompt must not succeed"),
      (error) => error,
    )
    if (failed) throw failed
    await after(session)
    return error
  })
}

export function head(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

export function frame(text: string): Buffer {
  return Buffer.concat([head(Buffer.byteLength(text)), Buffer.from(text)])
}
