// Updates wait for the message that they follow. A message of another process is never reported, so updates that
// wait for it are sent at the end of the turn.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, type Script, stall, text } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { type Followed, inFollowed } from "../followed.ts"

/** A followed session that another process has prompted too. */
async function inShared(script: Script, fn: (world: Followed) => Promise<unknown>): Promise<void> {
  await inFollowed(script, async (world) => {
    world.tmp.write("notes.txt", "some notes")
    await world.ask("one")
    const args = ["run", "--session", world.session.id, "two"]
    const { code, err } = await vitamin(world.tmp, args, env(world.llm, "chat").variables)
    assert.equal(code, 0, err)
    await fn(world)
  })
}

/** A prompt whose first message is a file: unlike text it waits for its predecessor. */
const attached = { text: "", parts: [{ type: "file_reference" as const, path: "notes.txt" }] }

test("updates that wait for a message of another process are sent at the end of the turn", async () => {
  await inShared([text("One."), text("Two."), text("Three.")], async ({ ask, editor }) => {
    await ask("", attached)
    assert.deepEqual(editor.texts("agent"), ["One.", "Three."])
  })
})

test("updates that wait for a message of another process are sent when the turn is interrupted", async () => {
  const broken = stall(text("Three and some more words", { deltas: 6 }), 900)
  await inShared([text("One."), text("Two."), broken], async ({ ask, editor, events, session }) => {
    const before = events.length
    const asked = ask("", attached, { stall: 60_000 })
    asked.catch(() => {})
    await until(() => events.slice(before).some(({ type }) => type === "message.delta"))
    assert.deepEqual(editor.texts("agent"), ["One."])
    Session.abort(session.id)
    await assert.rejects(asked, { name: "Session.Interrupted" })
    assert.match(editor.texts("agent").at(-1)!, /^Three/)
  })
})
