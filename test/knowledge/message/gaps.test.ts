// A missing message is bridged to the message before it, never to another branch or to a reverted message.
import assert from "node:assert/strict"
import { test } from "node:test"
import { pathTo } from "#engine/record/history.ts"
import { turnsAway } from "#knowledge/message/conversation-order.ts"
import { bridgeGaps, gapsIn, type Lost, missingParents } from "#knowledge/message/gaps.ts"
import * as Message from "#knowledge/message/message.ts"
import { createRandom, type Random } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"

test("bridgeGaps() replaces a lost message by a note with the reason", () => {
  const messages = conversation(createRandom(1), 3)
  const [first, lost, last] = messages as [Message.Info, Message.Info, Message.Info]
  const bridged = bridgeGaps([first, last], [{ id: lost.id, reason: "it is empty" }])
  assert.deepEqual(
    pathTo(bridged, "main").map(({ id }) => id),
    [first.id, lost.id, last.id],
  )
  assert.deepEqual(gapsIn(bridged), [{ id: lost.id, reason: "it is empty" }])
  const prompt = Message.toModel(bridged, { input: ["text"] })
  assert.match(JSON.stringify(prompt), /A message is missing here/)
})

test("bridgeGaps() keeps every branch of random sessions as it was, whichever messages are lost", () => {
  for (let seed = 0; seed < repeat(300, 5_000); seed++) {
    const random = createRandom(seed)
    const messages = conversation(random, 30)
    const isLost = new Set(messages.filter(() => random(4) === 0))
    const readable = messages.filter((message) => !isLost.has(message))
    // Those that are quarantined, or that somebody follows; one that is gone without a trace cannot be told.
    const lost = [...isLost].map(lostOf)
    const bridged = bridgeGaps(readable, lost)
    for (const branch of new Set(messages.map((message) => message.branch)))
      assert.deepEqual(idsOf(bridged, branch), idsOf(messages, branch), `seed ${seed}, branch ${branch}`)
  }
})

test("bridgeGaps() does not join a new branch to another one when it is not known where it began", () => {
  const [first, second] = conversation(createRandom(1), 2) as [Message.Info, Message.Info]
  const child = { ...make("other", "msg_gone"), id: "msg_zzz" }
  assert.deepEqual(missingParents([first, second, child]), ["msg_gone"])
  const bridged = bridgeGaps([first, second, child], [{ id: "msg_gone", reason: "its record is gone" }])
  assert.deepEqual(idsOf(bridged, "other"), ["msg_gone", "msg_zzz"])
  assert.deepEqual(idsOf(bridged, "main"), [first.id, second.id])
})

/** What is known of a lost message: of one that turns away from the message before it, its second record. */
function lostOf(message: Message.Info): Lost {
  const { id, parentId, branch } = message
  return { id, reason: "it is empty", ...(turnsAway(message) ? { parentId, branch } : {}) }
}

/** Prompts, reverts, new branches and switches, as the engine writes them. */
function conversation(random: Random, count: number): Message.Info[] {
  const messages: Message.Info[] = []
  let branch = "main"
  const add = (message: Message.Info) => void messages.push(message)
  const tip = (name: string) => pathTo(messages, name).at(-1)?.id ?? null
  for (let n = 0; n < count; n++) {
    const act = n < 3 ? 9 : random(10)
    const names = [...new Set(messages.map((message) => message.branch))]
    const path = pathTo(messages, branch)
    if (act === 0) {
      const target = path[random(path.length)]!
      if (!turnsAway(target)) {
        add(make(branch, target.parentId, control("revert", { from: tip(branch) })))
        continue
      }
    }
    if (act === 1 || act === 2) {
      const isNew = act === 1
      const name = isNew ? `b${n}` : names[random(names.length)]!
      const at = isNew ? path[random(path.length)]!.id : tip(name)
      branch = name
      add(make(branch, at, control("branch_switch", { to: name })))
      continue
    }
    add(make(branch, tip(branch)))
  }
  return messages
}

function control(name: string, parameters: Message.JsonObject) {
  return { type: "system_control" as const, data: { control: name, parameters } }
}

function make(
  branch: string,
  parentId: string | null,
  of: ReturnType<typeof control> | undefined = undefined,
): Message.Info {
  const place = { sessionId: "sess_1", branch, parentId }
  if (of) return Message.make({ ...place, ...of })
  return Message.make({
    ...place,
    type: "text",
    data: { role: "user", parts: [{ type: "text", text: "hello" }] },
  })
}

function idsOf(messages: Message.Info[], branch: string): string[] {
  return pathTo(messages, branch).map(({ id }) => id)
}
