// Text that is still streaming reaches the clients of every server, whichever works on the session.
import assert from "node:assert/strict"
import { test } from "node:test"
import pg from "pg"
import { createClient, createHttpTransport, type Message, type StreamEvent } from "#client/client.ts"
import { fakeLlm, text } from "../../fixture/fake-llm.ts"
import { noPostgres } from "../../fixture/postgres.ts"
import { until } from "../../fixture/until.ts"
import { type Fleet, startFleet, story, type Worker } from "./harness.ts"

const asynchronous = { prefer: "respond-async" }
const answer = Array.from({ length: 300 }, (_, n) => `word ${n}, grün 😀`).join(" ")

/** A client of a worker and its events. */
async function follow({ url, token }: Pick<Worker, "url" | "token">) {
  const stopping = new AbortController()
  const events: StreamEvent[] = []
  const client = createClient(createHttpTransport({ url, token }))
  const reading = (async () => {
    for await (const event of client.events({ signal: stopping.signal })) events.push(event)
  })().catch(() => {})
  await until(() => events.some(({ type }) => type === "connected"), "the stream")
  const deltas = (sessionId: string) =>
    events.filter((event) => event.type === "message.delta" && event.payload.sessionId === sessionId)
  return {
    events,
    deltas,
    text: (sessionId: string) =>
      deltas(sessionId)
        .map((event) => (event as { payload: { text: string } }).payload.text)
        .join(""),
    /** The complete answer, and its place among the events. */
    complete(sessionId: string): { at: number; message: Message } | undefined {
      const at = events.findIndex((event) => isComplete(event, sessionId))
      return at < 0
        ? undefined
        : { at, message: (events[at] as { payload: { message: Message } }).payload.message }
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await reading
    },
  }
}

function isComplete(event: StreamEvent, sessionId: string): boolean {
  if (event.type !== "message.created" && event.type !== "message.updated") return false
  const { message } = event.payload
  return (
    message.sessionId === sessionId &&
    message.type === "text" &&
    message.data.role === "assistant" &&
    message.data.finish !== undefined
  )
}

/** Resolves when so many servers have said that they have clients. */
async function announced(fleet: Fleet, count: number, work: () => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: fleet.database.url })
  let heard = 0
  client.on("notification", () => heard++)
  await client.connect()
  try {
    await client.query("listen vitamin_live")
    await work()
    await until(() => heard >= count, "the announcements")
  } finally {
    await client.end()
  }
}

async function begin(worker: Worker, headers: Record<string, string> = {}): Promise<string> {
  const { body } = await worker.call("POST", "/session", {}, headers)
  const all = { ...asynchronous, ...headers }
  const { status } = await worker.call("POST", `/session/${body.id}/message`, { text: "Go." }, all)
  assert.equal(status, 202)
  return body.id
}

test("the clients of both servers see an answer grow, once, and get the same message", {
  skip: noPostgres,
}, async () => {
  const grown = Promise.withResolvers<void>()
  const gate = (piece: number) => (piece === 110 ? grown.promise : undefined)
  await using llm = await fakeLlm([text(answer, { deltas: 120, delay: 20, gate })])
  await using fleet = await startFleet(2, llm)
  const clients: Awaited<ReturnType<typeof follow>>[] = []
  await using _ = {
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(clients.map((one) => one[Symbol.asyncDispose]()))),
  }
  await announced(fleet, 2, async () => {
    for (const worker of fleet.workers) clients.push(await follow(worker))
  })
  const id = await begin(fleet.workers[0]!)
  await until(() => clients.every((one) => one.deltas(id).length > 2), "the answer grows")
  grown.resolve()
  await until(() => clients.every((one) => one.complete(id)), "the message")
  for (const one of clients) {
    const { at, message } = one.complete(id)!
    assert.equal(one.text(id), answer)
    assert.deepEqual(message, clients[0]!.complete(id)!.message)
    const before = one.events.slice(0, at).filter(({ type }) => type === "message.delta").length
    assert.equal(before, one.deltas(id).length)
  }
})

test("a client that connects in the middle of an answer gets the rest, and the whole message", {
  skip: noPostgres,
}, async () => {
  const connected = Promise.withResolvers<void>()
  const gate = (piece: number) => (piece === 150 ? connected.promise : undefined)
  await using llm = await fakeLlm([text(answer, { deltas: 300, delay: 20, gate })])
  await using fleet = await startFleet(2, llm)
  await using first = await follow(fleet.workers[0]!)
  const id = await begin(fleet.workers[0]!)
  await until(() => first.text(id).length > 500, "the beginning")
  const holder = await fleet.holder(id)
  await using late = await follow(fleet.workers.find((one) => one !== holder)!)
  connected.resolve()
  await until(() => late.complete(id), "the message")
  assert.ok(answer.endsWith(late.text(id)), late.text(id))
  const { message } = late.complete(id)!
  assert.deepEqual(message.type === "text" && message.data.parts, [{ type: "text", text: answer }])
})

test("a client of another server sees the answer go on after the working server was killed", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm([
    text("lost ".repeat(2_000), { deltas: 2_000, delay: 50 }),
    text(answer, { deltas: 50, delay: 20 }),
  ])
  await using fleet = await startFleet(2, llm)
  const id = await begin(fleet.workers[0]!)
  const holder = await fleet.holder(id)
  const other = fleet.workers.find((one) => one !== holder)!
  await using client = await follow(other)
  await until(() => client.text(id).includes("lost lost"), "the text of the first server")
  holder.signal("SIGKILL")
  await until(() => client.complete(id), "the message")
  const { message } = client.complete(id)!
  assert.deepEqual(message.type === "text" && message.data.parts, [{ type: "text", text: answer }])
  assert.ok(client.text(id).endsWith(answer))
  assert.equal((await story(other, id)).at(-1), `assistant: ${answer}`)
})

test("a person sees only the text of sessions that they may see, at every server", {
  skip: noPostgres,
}, async () => {
  await using llm = await fakeLlm(() => text(answer, { deltas: 60, delay: 10 }))
  await using fleet = await startFleet(2, llm)
  const [one, two] = fleet.workers as [Worker, Worker]
  const tokenOf = async (name: string) =>
    (await one.call("POST", "/token", { name, role: "member" })).body.token as string
  const [ada, eve] = [await tokenOf("ada"), await tokenOf("eve")]
  await using adas = await follow({ url: one.url, token: ada })
  await using adasOther = await follow({ url: two.url, token: ada })
  await using eves = await follow({ url: one.url, token: eve })
  let evesOther!: Awaited<ReturnType<typeof follow>>
  await announced(fleet, 1, async () => {
    evesOther = await follow({ url: two.url, token: eve })
  })
  await using _ = evesOther
  const id = await begin(one, { authorization: `Bearer ${ada}` })
  await until(() => adas.complete(id) && adasOther.complete(id), "the answer")
  const own = await begin(two, { authorization: `Bearer ${eve}` })
  await until(() => eves.complete(own) && evesOther.complete(own), "the other answer")
  assert.ok(adas.text(id) !== "" && adasOther.text(id) !== "")
  for (const client of [eves, evesOther]) assert.doesNotMatch(JSON.stringify(client.events), new RegExp(id))
})
