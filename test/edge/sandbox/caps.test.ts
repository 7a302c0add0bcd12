// How much a guest may have open at once: requests, questions to the person, and answers that it does not read.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as ImageStore from "#ability/image/image-store.ts"
import * as Permission from "#ability/permission/permission.ts"
import { until } from "../../fixture/until.ts"
import { frame, type Lie, withGuest } from "./lying-guest.ts"

function question({ session }: Lie, callId: string): object {
  const needs = [{ permission: "bash.execute", target: "make" }]
  const { id: sessionId, agent } = session
  const call = { sessionId, messageId: "m", callId, tool: "bash", title: "t", needs, agent, agents: [agent] }
  return { ...call, onlyListeners: false }
}

async function rejectAll(): Promise<void> {
  for (const { id } of Permission.pending()) await Permission.reply(id, "reject")
}

test("a guest has at most 256 requests open; further ones wait, also if they come in one piece", async () => {
  await withGuest(async (guest) => {
    const asks = Array.from({ length: 300 }, (_, i) =>
      frame(JSON.stringify({ id: 1_000 + i, ask: "permission.ask", args: question(guest, `c${i}`) })),
    )
    const answered = new Set<string>()
    guest.stream.removeAllListeners("data").on("data", (bytes: Buffer) => {
      for (const [, id] of bytes.toString("latin1").matchAll(/"id":(\d{4}),"reply"/g)) answered.add(id!)
    })
    guest.stream.write(Buffer.concat(asks))
    guest.stream.resume()
    await until(() => Permission.pending().length >= 256)
    for (let i = 0; i < 100; i++) await new Promise(setImmediate)
    assert.equal(Permission.pending().length, 256)
    await rejectAll()
    await until(() => Permission.pending().length === 44)
    await rejectAll()
    await until(() => answered.size === 300)
  })
})

test("a guest asks the person for at most 10 hosts at once, and does not ask again after a no", async () => {
  await withGuest(async ({ checkUrl }) => {
    const ends: string[] = []
    const reach = (i: number) =>
      checkUrl(`http://host-${i}.test/`).then(
        () => ends.push("reached"),
        (error: Error) => ends.push(error.name),
      )
    const reaching = Array.from({ length: 12 }, (_, i) => reach(i))
    await until(() => ends.length + Permission.pending().length === 12)
    assert.equal(Permission.pending().length, 10)
    await rejectAll()
    await Promise.all(reaching)
    await reach(0)
    assert.deepEqual(new Set(ends), new Set(["UrlDenied"]))
    assert.deepEqual(Permission.pending(), [])
  })
})

test("a guest that does not read its answers is ended when 256 MB wait for it", async () => {
  const error = await withGuest(async ({ peer, stream, session }) => {
    const hash = await ImageStore.write(session.id, Buffer.alloc(4 << 20, 7))
    stream.removeAllListeners("data").pause()
    for (let id = 1_000; id < 1_060; id++) {
      const args = { sessionId: session.id, hash }
      stream.write(frame(JSON.stringify({ id, ask: "image.get", args })))
    }
    await peer.closed
  })
  assert.match(error.message, /sent nothing, and reads nothing/)
})
