// Attached files and the rules: denied files, files that are asked for, and swapped files.
import assert from "node:assert/strict"
import { rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { files, outside, point, sent } from "./attached.ts"
import { inWorld, shapeOf, textOf } from "./harness.ts"
import { next } from "./needy.ts"

test("a denied file is not read, whether the rule matches its name or its target, and whoever set the rule", async () => {
  const permission = [{ permission: "file.read", pattern: "private/**", action: "deny" }]
  await inWorld(
    [],
    async (world) => {
      world.tmp.write("private/key.txt", "hidden words")
      symlinkSync("private/key.txt", join(world.tmp.path, "link.txt"))
      for (const path of ["private/key.txt", "link.txt", join(world.tmp.path, "private/key.txt")]) {
        const data = await point(world, path)
        assert.equal(data.status, "failed")
        assert.match(
          data.error!,
          /^file\.read of ".*private\/key\.txt" is denied by the rule "file\.read:private/,
        )
        assert.equal(data.content, undefined)
      }
      world.tmp.write("a.txt", "for the agent")
      const rule = Permission.parseRule("file.read:a.txt", "deny")
      defineAgent({ id: "careful", permissions: [rule] })
      for (const more of [{ rules: [rule] }, { agent: "careful" }]) {
        world.llm.push(text("ok"))
        await world.ask("@a.txt", more)
        assert.match(
          files(await world.messages()).at(-1)!.error!,
          /is denied by the rule "file\.read:a\.txt"/,
        )
      }
      for (const { raw } of world.llm.requests) assert.doesNotMatch(raw, /hidden words|for the agent/)
    },
    { config: { permission } },
  )
})

test("in plan mode files are read as before", async () => {
  await inWorld([text("ok")], async (world) => {
    world.tmp.write("a.txt", "to be planned\n")
    await Session.setMode(world.session.id, "plan")
    await world.ask("plan with @a.txt")
    assert.match(sent(world), /1\\tto be planned/)
  })
})

test('a file outside the workspace needs a permission: its message is pending until the reply "once" allows it', async () => {
  await inWorld([text("ok")], async (world) => {
    const file = outside(world.tmp, "other.txt", "from outside\n")
    const answered = world.ask(`look at @${file}`)
    const [question] = await next()
    assert.deepEqual(
      question!.needs.map(({ permission, target }) => [permission, target]),
      [["file.read", file]],
    )
    const waiting = (await world.messages()).at(-1)
    assert.equal(question!.messageId, waiting?.id)
    assert.equal(files([waiting!])[0]?.status, "pending")
    assert.equal(await world.status(), "waiting")
    assert.equal(world.llm.requests.length, 0)
    await Permission.reply(question!.id, "once")
    await answered
    assert.deepEqual(shapeOf(await world.messages()), ["user", "file_reference", "assistant"])
    assert.equal(files(await world.messages())[0]?.content, "1\tfrom outside")
    assert.match(sent(world), /from outside/)
  })
})

test("a file that the person rejects is not read, and the prompt continues", async () => {
  await inWorld([text("ok")], async (world) => {
    const file = outside(world.tmp, "other.txt", "from outside\n")
    const answered = world.ask(`look at @${file}`)
    const [question] = await next()
    await Permission.reply(question!.id, "reject", { message: "not that one" })
    assert.equal(textOf(await answered), "ok")
    assert.match(files(await world.messages())[0]!.error!, /the person rejected it and says: not that one/)
    assert.doesNotMatch(sent(world), /from outside/)
  })
})

test("if nobody can be asked, a file outside and a link to it are denied, naming the rule that would allow it", async () => {
  await inWorld([], async (world) => {
    const file = outside(world.tmp, "other.txt", "from outside\n")
    symlinkSync(file, join(world.tmp.path, "innocent.txt"))
    for (const path of [file, "innocent.txt"]) {
      const { error } = await point(world, path)
      assert.match(error!, /other\.txt" \(outside of the workspace\) needs a person's permission/)
      assert.match(error!, /--allow "file\.read:.*other\.txt"/)
    }
    for (const { raw } of world.llm.requests) assert.doesNotMatch(raw, /from outside/)
    const denied = world.events.filter(({ type }) => type === "permission.denied")
    assert.equal(denied.length, 2)
    world.llm.push(text("ok"))
    await world.ask("@innocent.txt", { rules: [Permission.parseRule(`file.read:${file}`)], asks: "deny" })
    assert.equal(files(await world.messages()).at(-1)?.content, "1\tfrom outside")
  })
})

test("a link that is swapped again and again never reveals a file outside", async () => {
  await inWorld([], async (world) => {
    const { tmp } = world
    const secret = outside(tmp, "secret.txt", "the secret")
    tmp.write("inside.txt", "harmless\n")
    const link = join(tmp.path, "link.txt")
    const swap = (to: string) => {
      rmSync(link, { force: true })
      symlinkSync(to, link)
    }
    swap("inside.txt")
    let turn = 0
    const swapping = setInterval(() => swap(turn++ % 2 ? secret : "inside.txt"), 1)
    try {
      for (let i = 0; i < 40; i++) await point(world, "link.txt")
    } finally {
      clearInterval(swapping)
    }
    for (const { raw } of world.llm.requests) assert.doesNotMatch(raw, /the secret/)
  })
})

test("an interruption during a question leaves the other attachments unread, and the session continues", async () => {
  await inWorld([text("ok")], async (world) => {
    const file = outside(world.tmp, "other.txt", "from outside\n")
    world.tmp.write("a.txt", "second\n")
    const answered = world.ask(`look at @${file} and @a.txt`)
    answered.catch(() => {})
    await next()
    Session.abort(world.session.id)
    await assert.rejects(answered, { name: "Session.Interrupted" })
    assert.deepEqual(
      files(await world.messages()).map(({ status }) => status),
      ["pending", "pending"],
    )
    assert.equal(await world.status(), "interrupted")
    await world.ask("go on", { refresh: true, rules: [Permission.parseRule(`file.read:${file}`)] })
    assert.deepEqual(
      files(await world.messages()).map(({ content }) => content),
      ["1\tfrom outside", "1\tsecond"],
    )
    assert.match(sent(world), /from outside[\s\S]*second/)
  })
})

test("@path in a task that a model gives to another attaches nothing", async () => {
  const task = call("subtask", { task: "look at @a.txt" })
  await inWorld([task, text("done in the task"), text("done")], async (world) => {
    world.tmp.write("a.txt", "not attached\n")
    await world.ask("delegate", { asks: "once" })
    for (const { raw } of world.llm.requests) assert.doesNotMatch(raw, /not attached/)
    assert.equal(world.llm.requests.length, 3)
  })
})
