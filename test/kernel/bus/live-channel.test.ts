// Live events between servers that share a database: order, sizes, strangers, a database that is away.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { createEventTable } from "#kernel/bus/event-table.ts"
import type { Event } from "#kernel/bus/global-bus.ts"
import { createLiveBatch } from "#kernel/bus/live-batch.ts"
import { open } from "#kernel/database/database.ts"
import { networkTo } from "../../fixture/network-cut.ts"
import { cluster, noPostgres, type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { slowListener } from "../../fixture/slow-listener.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const real = { skip: noPostgres, timeout: 90_000 }

/** A log with a client, and what the client gets. */
async function openLog(url: string) {
  const database = await open(url)
  const log = await createEventTable(database)
  let text = ""
  log.follow(({ live }) => {
    text += live
  })
  log.watch(true)
  const events = () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Event)
  return {
    log,
    events,
    /** The text of the live events of a session, with the stored events between them. */
    story: (sessionId = "s") =>
      events()
        .map(({ id, payload }) => ({ id, payload: payload as { sessionId: string; text: string } }))
        .filter(({ payload }) => payload.sessionId === sessionId)
        .map(({ id, payload }) => (id === undefined ? payload.text : `[${payload.text}]`))
        .join(""),
    live: (part: string, sessionId = "s") =>
      log.publish({ type: "t.live", time: 1, directory: "/a", payload: { sessionId, text: part } }),
    stored: (part: string, sessionId = "s") =>
      log.publish({ id: 1, type: "t.t", time: 1, directory: "/a", payload: { sessionId, text: part } }),
    async [Symbol.asyncDispose]() {
      await log.close()
      await database.close()
    },
  }
}
type Opened = Awaited<ReturnType<typeof openLog>>

/** Resolves when the live events of `from` reach `to`. */
async function connected(from: Opened, to: Opened) {
  let sent = 0
  await until(() => {
    from.live(`hello ${sent++}`, "first")
    return to.story("first") !== ""
  }, "a live event")
}

/** What is notified on the channel of live events, as anybody who may connect can hear it. */
async function eavesdrop(tmp: TmpDatabase) {
  const client = new pg.Client({ connectionString: tmp.url })
  await client.connect()
  const heard: string[] = []
  client.on("notification", ({ payload }) => heard.push(payload ?? ""))
  await client.query("listen vitamin_live")
  return {
    heard,
    say: (payload: string) => client.query("select pg_notify('vitamin_live', $1)", [payload]),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

test("live events reach the clients of other servers, in order between the stored ones", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using a = await openLog(tmp.url)
  await using b = await openLog(tmp.url)
  await connected(a, b)
  let expected = ""
  for (let round = 0; round < 40; round++) {
    for (let n = 0; n < 5; n++) {
      a.live(`${round}.${n} `)
      a.live("x", "other")
      expected += `${round}.${n} `
    }
    a.stored(`${round}`)
    expected += `[${round}]`
    b.stored(`${round}`, "of b")
    await new Promise((resolve) => setTimeout(resolve, round % 7))
  }
  a.live("the end")
  await until(() => b.story().endsWith("the end"), "the end")
  assert.equal(a.story(), `${expected}the end`)
  assert.equal(b.story(), a.story())
  assert.equal(b.story("other"), "x".repeat(200))
  assert.equal(a.story("of b"), b.story("of b"))
  // Many become one.
  const count = (one: Opened) => one.events().filter(({ id }) => id === undefined).length
  assert.ok(count(b) < count(a) / 2, `${count(b)} of ${count(a)}`)
})

test("live events of any size and any characters arrive as they were sent", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using a = await openLog(tmp.url)
  await using b = await openLog(tmp.url)
  await connected(a, b)
  const parts = ["ü😀".repeat(4_000), "\0\u0001\"\\'\n\r".repeat(900), "\uD83D", "end"]
  for (const part of parts) a.live(part)
  await until(() => b.story().endsWith("end"), "the end")
  assert.equal(b.story(), parts.join(""))
  // One without a text that is too large is left out, and the next ones are not.
  a.log.publish({
    type: "t.live",
    time: 1,
    directory: "/a",
    payload: { sessionId: "s", data: "x".repeat(9_000) },
  })
  a.live("after it")
  await until(() => b.story().endsWith("after it"), "the next")
})

test("strangers can neither read live events nor send or repeat them", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using stranger = await eavesdrop(tmp)
  await using a = await openLog(tmp.url)
  await using b = await openLog(tmp.url)
  await connected(a, b)
  a.live("a secret of the session")
  await until(() => b.story() !== "", "the text")
  for (const payload of stranger.heard) {
    assert.doesNotMatch(payload, /secret/)
    assert.doesNotMatch(Buffer.from(payload, "base64").toString("latin1"), /secret|session/)
  }
  const event = { type: "t.live", time: 1, directory: "/a", payload: { sessionId: "s", text: "forged" } }
  const packet = { version: 1, from: "x", number: 1, after: 0, events: [event] }
  const heard = [...stranger.heard]
  for (const payload of ["", "nonsense", JSON.stringify(packet), "A".repeat(7_999), ...heard])
    await stranger.say(payload)
  a.live(", and the end")
  await until(() => b.story().endsWith("end"), "the end")
  assert.equal(b.story(), "a secret of the session, and the end")
})

test("nothing is sent while no other server has a client", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  await using a = await openLog(tmp.url)
  await using stranger = await eavesdrop(tmp)
  for (let n = 0; n < 200; n++) {
    a.live("to nobody")
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  // The channel works: what a stranger says arrives, and nothing that is as large as an event came before.
  await stranger.say("mine")
  await until(() => stranger.heard.includes("mine"), "the notification")
  assert.deepEqual(
    stranger.heard.filter((payload) => payload.length > 200),
    [],
  )
})

test(
  "own clients get live events at once while the database is away, and memory does not grow",
  real,
  async () => {
    await using _ = await tmpdir()
    await using tmp = await tmpDatabase()
    const { port } = await cluster()
    await using network = await networkTo(port)
    await using b = await openLog(tmp.url)
    await using a = await openLog(tmp.url.replace(`:${port}/`, `:${network.port}/`))
    await connected(a, b)
    network.cut()
    const large = "y".repeat(50_000)
    for (let n = 0; n < 60; n++) {
      a.live(large)
      await until(() => a.story().length === (n + 1) * large.length, "the own client")
    }
    network.mend()
    await connected(a, b)
    await until(() => {
      a.live("again")
      return b.story().endsWith("again")
    }, "the other client")
    // The first ones were on their way, the others were left out.
    assert.ok(b.story().length < 10 * large.length, `${b.story().length} characters`)
  },
)

test("a live event keeps its place before a stored one that is on a quicker connection", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  const { port } = await cluster()
  await using network = await slowListener(port, { sends: 300 })
  await using b = await openLog(tmp.url)
  await using a = await openLog(tmp.url.replace(`:${port}/`, `:${network.port}/`))
  await connected(a, b)
  network.slow()
  a.live("one, ")
  // It is collected for a moment, then sent, and arrives after what is sent next.
  await new Promise((resolve) => setTimeout(resolve, 150))
  a.live("two")
  a.stored("stored")
  await until(() => b.story().includes("[stored]"), "the stored event")
  assert.equal(b.story(), "one, two[stored]")
})

test("a server whose notifications are late keeps the order of live and stored events", real, async () => {
  await using _ = await tmpdir()
  await using tmp = await tmpDatabase()
  const { port } = await cluster()
  await using network = await slowListener(port, { gets: 200 })
  await using a = await openLog(tmp.url)
  await using b = await openLog(tmp.url.replace(`:${port}/`, `:${network.port}/`))
  await connected(a, b)
  network.slow()
  // The first notification arrives when the second event is in the table, and its live event is on the way.
  a.stored("1")
  await new Promise((resolve) => setTimeout(resolve, 100))
  a.live("one")
  a.stored("2")
  await until(() => b.story().includes("[2]"), "the stored events")
  // Its own event makes it read the others before they are announced.
  a.live("two")
  a.stored("3")
  await until(() => a.story().includes("[3]"), "the third event")
  b.stored("of b", "other")
  await until(() => b.story("other") !== "", "the own event")
  assert.equal(b.story(), "[1]one[2]two[3]")
})

test("createLiveBatch() joins text that goes on, and leaves out what comes while it is full", () => {
  const batch = createLiveBatch()
  const event = (sessionId: string, text: string): Event => ({
    type: "t.live",
    time: 1,
    directory: "/a",
    payload: { sessionId, text },
  })
  for (const [session, text] of ["s:a", "t:1", "s:b", "t:2"].map((one) => one.split(":")))
    batch.add(event(session!, text!))
  assert.deepEqual(batch.take(), [event("s", "ab"), event("t", "12")])
  for (let n = 0; n < 1_000; n++) batch.add(event("s", "x".repeat(1_000)))
  const payload = batch.take()[0]!.payload as { text: string }
  assert.ok(payload.text.length < 100_000, `${payload.text.length} characters`)
  assert.deepEqual(batch.take(), [])
})
