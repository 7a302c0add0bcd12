import assert from "node:assert/strict"
import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Global from "#kernel/process/global.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { call, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, filesOf, inWorld, shapeOf, textOf } from "./harness.ts"

const folderOf = (sessionId: string) => join(Global.data(), "storage", "message", sessionId)

test("Session.prompt() has stored everything when it resolves", async () => {
  await inWorld([call("ls"), text("done")], async ({ ask, session, messages }) => {
    const answer = await ask("go")
    const onDisk = filesOf(session.id).map((name) =>
      Message.parse(readFileSync(join(folderOf(session.id), name), "utf8")),
    )
    assert.deepEqual(shapeOf(onDisk), ["user", "tool_request", "tool_result", "assistant"])
    assert.deepEqual(onDisk, await messages())
    assert.deepEqual(onDisk.at(-1), answer)
  })
})

test("a tool that writes runs only after the record of its request is acknowledged", async () => {
  await inWorld([call("change"), call("change"), text("done")], async ({ ask, session, messages }) => {
    const seen: string[][] = []
    const acknowledged = new Set<string>()
    defineTool("change", async (_, { messageId }) => {
      assert.ok(acknowledged.has(messageId))
      seen.push(filesOf(session.id))
      return "changed"
    })
    Bus.subscribe(MessageStore.Created, ({ message }) => void acknowledged.add(message.id))
    await ask("go")
    const ids = (await messages()).map(({ id }) => `${id}.json`)
    assert.deepEqual(seen, [ids.slice(0, 2), ids.slice(0, 4)])
  })
})

test("a long answer is stored while it streams, and a new process sees the stored part as interrupted", async () => {
  const long = stall(text("0123456789".repeat(40), { deltas: 40, delay: 2, chunk: 100 }), 6_000)
  await inWorld([long, text("again")], async ({ ask, session, messages, events }) => {
    const work = ask("go", {}, { keepEvery: 20, stall: 60_000 })
    work.catch(() => {})
    await until(async () => (await MessageStore.list(session.id)).length === 2)
    const partial = (await messages()).at(-1)!
    assert.match(textOf(partial), /^0123/)
    assert.equal(partial.type === "text" && partial.data.finish, undefined)
    Session.abort(session.id)
    await assert.rejects(work)
    const kept = events.filter(({ type }) => type === "message.updated" || type === "message.created")
    assert.ok(kept.length < 30, `${kept.length} records`)
    // The state after a process that was killed.
    await MessageStore.write(partial)
    assert.equal(textOf(await ask("go on")), "again")
    const after = (await messages())[1]!
    assert.equal(after.type === "text" && after.data.finish, "interrupted")
  })
})

test("Session.prompt() fails if a record cannot be written, and the process continues", async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on("unhandledRejection", note)
  await inWorld(
    [call("ls"), call("ls"), text("never"), text("better")],
    async ({ ask, session, llm, tmp, messages }) => {
      const folder = folderOf(session.id)
      mkdirSync(folder, { recursive: true })
      // A file in place of the folder: nothing can be written, not even by root.
      renameSync(folder, `${folder}-away`)
      tmp.write("block", "")
      renameSync(join(tmp.path, "block"), folder)
      await assert.rejects(ask("go"))
      assert.ok(llm.requests.length <= 2, `${llm.requests.length} requests`)
      rmSync(folder)
      renameSync(`${folder}-away`, folder)
      while (llm.requests.length < 3) await ask("again").catch(() => {})
      assert.equal(textOf(await ask("last")), "better")
      assert.ok((await messages()).length > 2)
    },
  )
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off("unhandledRejection", note)
  assert.deepEqual(unhandled, [])
})
