// The records of waiting prompts, and what happens to those that a crash leaves.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { settle } from "#engine/record/append.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import { createProgress } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import { addPrompt } from "#engine/turn/add-prompt.ts"
import { accept } from "#engine/turn/prompt.ts"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { png } from "../../fixture/png.ts"
import { until } from "../../fixture/until.ts"
import { defineTool, inWorld, shapeOf, textOf, type World } from "../session/harness.ts"

/** A process id that no process has. */
const dead = { pid: 2 ** 22 + 1, started: "1" }

/** The world with a prompt whose tool runs until `goOn` is called. */
async function inBusy(fn: (world: World, goOn: () => Promise<unknown>) => Promise<unknown>) {
  await inWorld(
    (_, turn) => (turn === 0 ? call("slow") : text("Done.")),
    async (world) => {
      const { promise, resolve } = Promise.withResolvers<string>()
      let isRunning = false
      defineTool("slow", () => {
        isRunning = true
        return promise
      })
      const first = world.ask("first")
      await until(() => isRunning)
      await fn(world, () => {
        resolve("ok")
        return first
      })
    },
  )
}

const skippedIn = ({ events }: World) => events.filter(({ type }) => type === "prompt.skipped")

test("only a waiting prompt has a record, until its message is stored", async () => {
  await inBusy(async (world, goOn) => {
    const { ask, session, messages } = world
    assert.deepEqual(await Session.prompts(session.id), [])
    const second = ask("second")
    await until(async () => (await Session.prompts(session.id)).length === 1)
    const [record] = await Session.prompts(session.id)
    assert.deepEqual(record!.parts, [{ type: "text", text: "second" }])
    await goOn()
    await second
    assert.deepEqual(await Session.prompts(session.id), [])
    const ids = (await messages()).flatMap(({ promptId }) => promptId ?? [])
    assert.deepEqual(ids, [record!.id])
  })
})

test("a prompt whose message was stored before the crash is neither run again nor reported", async () => {
  await inBusy(async (world, goOn) => {
    const { ask, session, messages, llm } = world
    const second = ask("second")
    await until(async () => (await Session.prompts(session.id)).length === 1)
    const [record] = await Session.prompts(session.id)
    await goOn()
    await second
    // The state after a process that ended between storing the message and removing the record.
    await Storage.write(["prompt", record!.id], { ...record, owner: dead })
    const requests = llm.requests.length
    await Session.recover()
    assert.deepEqual(await Session.prompts(session.id), [])
    assert.equal((await Session.get(session.id)).skipped, undefined)
    assert.deepEqual([skippedIn(world), llm.requests.length], [[], requests])
    assert.equal((await messages()).filter(({ promptId }) => promptId === record!.id).length, 1)
  })
})

test("a prompt without text has the id of its record in the message of its first attachment", async () => {
  await inBusy(async (world, goOn) => {
    const { ask, session, messages, tmp } = world
    for (const name of ["a.txt", "b.txt"]) tmp.write(name, name)
    const parts = ["a.txt", "b.txt"].map((path) => ({ type: "file_reference" as const, path }))
    const second = ask("", { parts })
    await until(async () => (await Session.prompts(session.id)).length === 1)
    const [record] = await Session.prompts(session.id)
    await goOn()
    await second
    const attached = (await messages()).filter(({ type }) => type === "file_reference")
    assert.deepEqual(
      attached.map(({ promptId }) => promptId),
      [record!.id, undefined],
    )
  })
})

test("addPrompt() removes a record that is written after the prompt has joined another one", async () => {
  await inWorld([text("Done.")], async ({ session, ask, messages }) => {
    await ask("first")
    const { promise, resolve } = Promise.withResolvers<PromptPart[]>()
    const stored = { id: "prm_1", sessionId: session.id, written: promise, hasBegun: false }
    const progress = createProgress(await messages())
    const { records } = progress
    const signal = new AbortController().signal
    const place = { session, progress, signal, chosen: {} }
    const parts = [{ type: "text" as const, text: "joins" }]
    await addPrompt({ ...place, permits: {} } as Parameters<typeof addPrompt>[0], { parts, stored })
    await Promise.all([...records.pending].slice(0, 1))
    await Storage.write(["prompt", "prm_1"], { id: "prm_1" })
    resolve(parts)
    await settle(records)
    assert.deepEqual(await Storage.list(["prompt"]), [])
  })
})

test("Session.recover() reports the prompts of a dead process once, and ignores those of a live one", async () => {
  await inWorld([text("Done.")], async (world) => {
    const { session, ask } = world
    const record = { sessionId: session.id, time: 5, parts: [{ type: "text", text: "left" }] }
    await Storage.write(["prompt", "prm_1"], { id: "prm_1", ...record, owner: dead })
    const alive = { pid: process.ppid, started: startOf(process.ppid) }
    await Storage.write(["prompt", "prm_2"], { id: "prm_2", ...record, owner: alive })
    await Promise.all([Session.recover(), Session.recover()])
    await Session.recover()
    const skipped = [{ id: "prm_1", time: 5, text: "left", reason: "the process that had accepted it ended" }]
    assert.deepEqual((await Session.get(session.id)).skipped, skipped)
    assert.deepEqual(
      skippedIn(world).map(({ payload }) => payload),
      [{ sessionId: session.id, prompt: skipped[0] }],
    )
    assert.equal(textOf(await ask("left")), "Done.")
    assert.equal((await Session.get(session.id)).skipped, undefined)
    assert.deepEqual(
      (await Session.prompts(session.id)).map(({ id }) => id),
      ["prm_2"],
    )
    await Session.remove(session.id)
    assert.deepEqual(await Storage.list(["prompt"]), [])
  })
})

test("a skipped prompt stays listed when another one begins with the same 1,000 characters", async () => {
  await inWorld([text("Done."), text("Done.")], async ({ session, ask }) => {
    const beginning = "x".repeat(2_000)
    await storeOfDead(session.id, `${beginning} left`)
    await Session.recover()
    await ask(`${beginning} another`)
    assert.equal((await Session.get(session.id)).skipped?.length, 1)
    assert.equal((await Session.prompts(session.id)).length, 1)
    await ask(`${beginning} left`)
    assert.equal((await Session.get(session.id)).skipped, undefined)
    assert.deepEqual(await Session.prompts(session.id), [])
  })
})

test("a fork and an import take no skipped prompts from a session", async () => {
  await inWorld([], async ({ session }) => {
    await storeOfDead(session.id, "left")
    await Session.recover()
    const copies = [await Session.fork(session.id), await Session.import(await Session.export(session.id))]
    for (const { id } of copies) assert.equal((await Session.get(id)).skipped, undefined)
    assert.equal((await Session.get(session.id)).skipped?.length, 1)
  })
})

test("the first prompt of a session reports the prompts that a dead process left in it", async () => {
  await inWorld([text("Done.")], async (world) => {
    const { session, ask } = world
    const record = { sessionId: session.id, time: 5, parts: [{ type: "text", text: "left" }], owner: dead }
    await Storage.write(["prompt", "prm_1"], { id: "prm_1", ...record })
    await ask("another")
    assert.equal(skippedIn(world).length, 1)
    assert.equal((await Session.get(session.id)).skipped?.length, 1)
  })
})

test("the images of a stored prompt are stored once, with the session", async () => {
  const bytes = png({ width: 200, height: 200 })
  await inBusy(async (world, goOn) => {
    const { session, messages } = world
    const source = { kind: "base64" as const, value: bytes.toString("base64") }
    const { promptId, answered } = await accept({
      sessionId: session.id,
      text: "look",
      parts: [{ type: "image", source }],
    })
    const file = join(Global.data(), "storage", "prompt", `${promptId}.json`)
    assert.ok(!readFileSync(file, "utf8").includes(source.value.slice(0, 60)))
    assert.ok(statSync(file).size < 2_000)
    await goOn()
    await answered
    const image = (await messages()).find(({ type }) => type === "image")
    assert.ok(image?.type === "image" && image.data.stored)
    assert.equal(image.data.metadata?.bytes, bytes.length)
    assert.deepEqual(readdirSync(join(Global.data(), "storage", "prompt")), [])
    assert.deepEqual(shapeOf(await messages()).slice(-3), ["user", "image", "assistant"])
  })
})

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!
}

/** A prompt that waited in a process that has died. */
async function storeOfDead(sessionId: string, words: string): Promise<void> {
  const parts = [{ type: "text", text: words }]
  await Storage.write(["prompt", "prm_1"], { id: "prm_1", sessionId, time: 5, parts, owner: dead })
}

test("an accepted prompt whose time is up before it begins is reported as skipped", async () => {
  await inWorld([], async (world) => {
    const { session } = world
    // Writing this takes longer than the time limit of the prompt.
    const large = Storage.write(["test", "large"], "x".repeat(30_000_000))
    const { promptId, answered } = await accept({ sessionId: session.id, text: "soon", timeout: 1 })
    await assert.rejects(answered, { name: "Session.Interrupted" })
    await large
    await until(() => skippedIn(world).length === 1)
    const { skipped } = await Session.get(session.id)
    assert.deepEqual(
      skipped?.map(({ id, reason }) => [id, reason]),
      [[promptId, "its time was up (--timeout)"]],
    )
  })
})

test("Session.removePrompt() refuses a prompt that has begun, and the prompt continues", async () => {
  await inWorld([call("slow"), text("Done.")], async ({ session, messages }) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    defineTool("slow", () => promise)
    const { promptId, answered } = await accept({ sessionId: session.id, text: "first" })
    const refused = { name: "Prompt.Busy", message: /has begun.*abort/ }
    await assert.rejects(Session.removePrompt(session.id, promptId), refused)
    await until(async () => (await messages()).some((one) => one.promptId === promptId))
    await assert.rejects(Session.removePrompt(session.id, promptId), refused)
    resolve("ok")
    assert.equal(textOf(await answered), "Done.")
    await assert.rejects(Session.removePrompt(session.id, promptId), { name: "Prompt.NotFound" })
  })
})

test("a skipped prompt stays listed if the same prompt fails before its message is written", async () => {
  await inWorld([text("Done.")], async ({ session, ask }) => {
    const record = { sessionId: session.id, time: 5, parts: [{ type: "text", text: "left" }] }
    await Storage.write(["prompt", "prm_1"], { id: "prm_1", ...record, owner: dead })
    await Session.recover()
    const listed = async () => [
      (await Session.get(session.id)).skipped?.map(({ id }) => id) ?? [],
      await Storage.list(["prompt"]),
    ]
    const [skipped, stored] = await listed()
    assert.deepEqual(skipped, ["prm_1"])
    const broken = { permission: "", pattern: "*", action: "allow" as const }
    await assert.rejects(ask("left", { rules: [broken] }), { name: "Permission.InvalidRule" })
    assert.deepEqual(await listed(), [skipped, stored])
    await ask("left")
    assert.deepEqual(await listed(), [[], []])
  })
})
