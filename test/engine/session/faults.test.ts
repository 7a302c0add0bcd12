// Random faults in conversations of several turns. A failure names the seed of its run.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import {
  badCall,
  call,
  calls,
  cut,
  empty,
  errorEvent,
  malformed,
  noFinish,
  type Reply,
  reset,
  splitCharacters,
  stall,
  status,
  text,
  type Wire,
  wires,
} from "../../fixture/fake-llm.ts"
import { encode } from "../../fixture/llm-wire.ts"
import { repeat } from "../../fixture/soak.ts"
import { defineTool, inWorld, resultsOf, type World } from "./harness.ts"

type Random = (below: number) => number

for (const wire of wires)
  test(`Session.prompt() ends well whatever the provider does, over ${wire}`, async () => {
    const runs = Math.ceil(repeat(60, 1_000) / wires.length)
    const seed = Date.now() % 1e6
    await inWorld(
      () => next(),
      async (world) => {
        for (let i = 0; i < runs; i++) await oneRun(world, wire, createRandom(seed + i), `seed ${seed + i}`)
      },
      { wire },
    )
  })

let next: () => Reply = () => text("unused")

async function oneRun(world: World, wire: Wire, random: Random, name: string): Promise<void> {
  const session = await Session.create()
  const ran: string[] = []
  const allowed = new Set<string>()
  let made = 0
  defineTool("change", async ({ value }, { callId }) => {
    ran.push(`${value} ${callId}`)
    return `changed ${value}`
  })
  const good = (): Reply => {
    if (random(3) === 0) return text("done → ✓", { deltas: 1 + random(5) })
    const several = Array.from({ length: 1 + random(3) }, () => call("change", { value: `v${made++}` }))
    return calls([text("so "), ...several, ...(random(4) ? [] : [badCall("change", '{"value')])], {
      deltas: 1 + random(6),
    })
  }
  const script = Array.from({ length: 4 + random(8) }, () => {
    const reply = good()
    return random(2) ? faulty(reply, random) : reply
  })
  next = () => {
    const reply = script.shift() ?? text("the end")
    if (!reply.fault || cutAfterFinish(reply, wire))
      for (const block of reply.blocks) if (block.type === "call") allowed.add(valueIn(block.raw))
    return reply
  }
  const sessionId = session.id
  const outcome = await world.ask("go", { sessionId }, { stall: 40 }).then(
    () => undefined,
    (error) => error,
  )
  if (outcome !== undefined)
    assert.ok(outcome instanceof Error && outcome.message && !/\[object/.test(outcome.message), name)
  const values = ran.map((entry) => entry.split(" ")[0]!)
  assert.equal(new Set(values).size, values.length, `${name}: a call ran twice: ${ran}`)
  for (const value of values)
    assert.ok(allowed.has(value), `${name}: a call of a broken answer ran: ${value}`)
  script.length = 0
  // A busy machine may send nothing for 40 ms, so this prompt waits longer.
  const answer = await world.ask("and now?", { sessionId })
  assert.equal(answer.type === "text" && answer.data.finish, "stop", name)
  assert.equal((await Session.get(session.id)).status, "idle", name)
  const messages = await Session.messages(session.id)
  const asked = messages.flatMap((message) => (message.type === "tool_request" ? message.data.calls : []))
  assert.equal(resultsOf(messages).length, asked.length, `${name}: each call has one result, over ${wire}`)
}

/** In the chat form, an answer is complete when its finish has arrived, whatever happens to the connection afterwards. */
function cutAfterFinish(reply: Reply, wire: Wire): boolean {
  if (wire !== "chat" || !reply.fault || !("bytes" in reply.fault)) return false
  const { body } = encode(wire, { reply, model: "fake-model", turn: 1 })
  // The number of the turn may take a few bytes more or less.
  return reply.fault.bytes >= Buffer.byteLength(body.join("")) - 40
}

function faulty(reply: Reply, random: Random): Reply {
  const kinds: (() => Reply)[] = [
    () => status([429, 500, 502, 503, 529, 408][random(6)]!, { retryAfter: random(2) }),
    () => reset(),
    () => cut(reply, 1 + random(2_000)),
    () => (random(4) ? cut(reply, 1 + random(600)) : stall(reply, random(1_500))),
    () => malformed(reply),
    () => errorEvent(reply),
    () => noFinish(reply),
    () => empty(),
    () => splitCharacters(reply),
    () => ({ ...reply, chunk: 1 + random(40) }),
  ]
  return kinds[random(kinds.length)]!()
}

function valueIn(raw: string): string {
  return /v\d+/.exec(raw)?.[0] ?? ""
}

/** The same numbers for the same seed. */
function createRandom(seed: number): Random {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}
