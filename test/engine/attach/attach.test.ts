// Files that a person attaches, in the loop: the stored message, what the model gets, and the rules.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import type * as Message from "#knowledge/message/message.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { files, outside, point, sent } from "../session/attached.ts"
import { inWorld, resultsOf, shapeOf, textOf } from "../session/harness.ts"
import { next } from "../session/needy.ts"

test("a referenced file is read before the model is asked, and stored after the text", async () => {
  await inWorld([text("I see")], async (world) => {
    world.tmp.write("src/app.ts", "one\ntwo\nthree\nfour\n")
    assert.equal(textOf(await world.ask("Explain @src/app.ts:2-3, please.")), "I see")
    const messages = await world.messages()
    assert.deepEqual(shapeOf(messages), ["user", "file_reference", "assistant"])
    assert.equal(textOf(messages[0]), "Explain @src/app.ts:2-3, please.")
    assert.equal(messages[1]!.parentId, messages[0]!.id)
    const { version, ...data } = files(messages)[0]!
    assert.deepEqual(data, {
      path: "src/app.ts",
      startLine: 2,
      endLine: 3,
      status: "resolved",
      content: "2\ttwo\n3\tthree",
    })
    assert.equal(version?.file, "src/app.ts")
    const [request] = world.llm.requests
    assert.equal(request!.messages.length, 1)
    assert.match(
      request!.messages[0]!.text,
      /please\.[\s\S]*<file path="src\/app\.ts:2-3">\n2\ttwo\n3\tthree\n<\/file>/,
    )
    const written = world.events.filter(({ type }) => type.startsWith("message.created")).length
    assert.equal(written, 3)
  })
})

for (const wire of ["chat", "responses", "messages", "gemini"] as const)
  test(`text, files and further text of a person form a valid conversation over ${wire}`, async () => {
    await inWorld(
      [text("one"), text("two")],
      async (world) => {
        world.tmp.write("a.txt", "content of a\n")
        await world.ask("first", { parts: [{ type: "file_reference", path: "a.txt" }] })
        await world.ask("second @a.txt")
        assert.equal(sent(world).split("content of a").length, 3)
      },
      { wire },
    )
  })

test("a file without text is a prompt, and its name becomes the title", async () => {
  await inWorld([text("fine")], async (world) => {
    world.tmp.write("a.txt", "hello\n")
    await world.ask("", { parts: [{ type: "file_reference", path: "a.txt" }] })
    assert.deepEqual(shapeOf(await world.messages()), ["file_reference", "assistant"])
    assert.equal((await Session.get(world.session.id)).title, "@a.txt")
    assert.match(sent(world), /1\\thello/)
    await assert.rejects(world.ask("  ", { parts: [] }), { name: "Session.InvalidPrompt" })
  })
})

const bad: [what: string, path: string, range: { startLine?: number; endLine?: number }, says: RegExp][] = [
  ["a missing file", "src/ap.ts", {}, /there is no such file\. Did you mean "src\/app\.ts"\?/],
  ["a folder", "src", {}, /"src" is a folder/],
  ["a binary", "data.bin", {}, /data\.bin is not text: binary file, 4 bytes/],
  ["an archive", "a.gz", {}, /is not text: gzip archive/],
  ["a start after the end", "src/app.ts", { startLine: 4 }, /has 3 lines; startLine 4 is after its end/],
  [
    "an end after the end",
    "src/app.ts",
    { startLine: 2, endLine: 9 },
    /has 3 lines; lines 2-9 go beyond its end/,
  ],
  ["lines of an empty file", "empty", { startLine: 1, endLine: 1 }, /has 0 lines; lines 1-1 go beyond/],
  ["a range that goes backwards", "src/app.ts", { startLine: 3, endLine: 1 }, /line 1 is before line 3/],
  ["line 0", "src/app.ts", { startLine: 0, endLine: 2 }, /lines are whole numbers from 1, not 0/],
  ["half a line", "src/app.ts", { startLine: 1.5 }, /lines are whole numbers from 1, not 1\.5/],
  ["a way up", "../other.txt", {}, /has a "\.\." segment/],
  ["a way up and down again", "src/../src/app.ts", {}, /has a "\.\." segment/],
  ["a NUL", "a\0b", {}, /NUL/],
  ["a pipe", "pipe", {}, /named pipe/],
  ["a home that is not expanded", "~/app.ts", {}, /there is no such file/],
  ["an endless name", "x".repeat(5_000), {}, /too long|ENAMETOOLONG/],
]

test("a file error is stored in its message and sent to the model, and the prompt continues", async () => {
  await inWorld([], async (world) => {
    const { tmp } = world
    tmp.write("src/app.ts", "one\ntwo\nthree\n")
    tmp.write("data.bin", Uint8Array.from([1, 0, 2, 0]))
    tmp.write("a.gz", Uint8Array.from([0x1f, 0x8b, 8, 0, 0]))
    tmp.write("empty", "")
    outside(tmp, "other.txt", "the secret of another")
    execFileSync("mkfifo", [join(tmp.path, "pipe")])
    for (const [what, path, range, says] of bad) {
      const data = await point(world, path, range)
      assert.equal(data.status, "failed", what)
      assert.equal(data.content, undefined, what)
      assert.match(data.error!, says, what)
      assert.match(sent(world), /could not be read: /, what)
      assert.equal(await world.status(), "idle", what)
    }
    assert.doesNotMatch(sent(world), /the secret of another/)
  })
})

const odd: [what: string, name: string, bytes: string | Uint8Array, content: string][] = [
  ["an empty file", "empty.txt", "", "(empty file)"],
  ["lines that end with CRLF", "crlf.txt", "a\r\nb\r\n", "1\ta\n2\tb\n[lines end with CRLF]"],
  ["a mark at its start", "bom.txt", "\ufeffa\n", "1\ta"],
  ["bytes that are no UTF-8", "latin.txt", Uint8Array.from([0x63, 0xe9, 10, 0x64, 10]), "1\tcé\n2\td"],
  ["another encoding", "wide.txt", Buffer.from("\ufeffä\n", "utf16le"), "1\tä\n[the file is UTF-16LE]"],
  ["no line end", "end.txt", "last", "1\tlast"],
  ["a name of many letters", "größe наука 说明 🎉.md", "x\n", "1\tx"],
]

test("text files of every kind are read with line numbers", async () => {
  await inWorld([], async (world) => {
    for (const [what, name, bytes, content] of odd) {
      world.tmp.write(name, bytes)
      const data = await point(world, name)
      assert.deepEqual([data.status, data.content], ["resolved", content], what)
    }
  })
})

test("a huge file and a huge line are shortened, and the message says where the rest is", async () => {
  await inWorld([], async (world) => {
    world.tmp.write("many.log", "a line of the log\n".repeat(200_000))
    world.tmp.write("line.txt", "x".repeat(5_000_000))
    const many = await point(world, "many.log")
    assert.ok(many.content!.length < 50_000)
    assert.match(many.content!, /\[200000 lines in all; go on with startLine 2001\]$/)
    const deep = await point(world, "many.log", { startLine: 150_000, endLine: 150_001 })
    assert.equal(deep.content, "150000\ta line of the log\n150001\ta line of the log")
    assert.match((await point(world, "line.txt")).content!, /^1\tx{2000}… \[line cut, 5000000 bytes\]$/)
  })
})

test("refresh reads changed files again and retries failed attachments; without it the history stays", async () => {
  await inWorld([text("1"), text("2"), text("3")], async (world) => {
    world.tmp.write("a.txt", "old\n")
    world.tmp.write("same.txt", "same\n")
    await world.ask("@a.txt @same.txt @late.txt")
    world.tmp.write("a.txt", "new\n")
    world.tmp.write("late.txt", "here now\n")
    await world.ask("again")
    assert.match(sent(world), /1\\told/)
    const before = world.events.length
    await world.ask("once more", { refresh: true })
    assert.doesNotMatch(sent(world), /1\\told/)
    assert.match(sent(world), /1\\tnew[\s\S]*1\\tsame[\s\S]*1\\there now[\s\S]*once more/)
    const updated = world.events.slice(before).filter(({ type, payload }) => {
      const { message } = payload as { message?: Message.Info }
      return type === "message.updated" && message?.type === "file_reference"
    })
    assert.equal(updated.length, 2)
    assert.deepEqual(
      files(await world.messages()).map(({ status }) => status),
      ["resolved", "resolved", "resolved"],
    )
  })
})

test("a referenced file counts as read: if somebody else changes it, it is not edited, not even in a later process", async () => {
  const edit = call("edit", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] })
  await inWorld([text("seen")], async (world) => {
    world.tmp.write("a.txt", "one\ntwo\n")
    const rules = [Permission.parseRule("file.edit:a.txt")]
    await world.ask("look at @a.txt")
    // In a new session, only the stored messages are known.
    const { id: sessionId } = await Session.fork(world.session.id)
    world.tmp.write("a.txt", "somebody else\ntwo\n")
    for (const session of [world.session.id, sessionId]) {
      world.llm.push(edit, text("done"))
      await Session.prompt({ sessionId: session, text: "change it", rules })
      const [result] = resultsOf(await Session.messages(session))
      assert.match(String(result?.output), /has changed since it was read/)
    }
  })
})

test("Session.revert() of a prompt also reverts its attachments", async () => {
  await inWorld([text("1"), text("2")], async (world) => {
    world.tmp.write("a.txt", "attached\n")
    await world.ask("first")
    await world.ask("second @a.txt")
    const second = (await world.messages()).find(
      (message) => message.type === "text" && textOf(message).startsWith("second"),
    )
    await Session.revert(world.session.id, second!.id)
    world.llm.push(text("3"))
    await world.ask("third")
    assert.doesNotMatch(sent(world), /attached/)
  })
})

test("a path is resolved from the folder of the session, then from the root of the project", async () => {
  await inWorld(
    [text("ok")],
    async (world) => {
      const sub = join(world.tmp.path, "sub")
      mkdirSync(sub)
      world.tmp.write("sub/near.txt", "near\n")
      const session = await Session.create({ directory: sub })
      await Instance.provide({
        directory: sub,
        fn: () => Session.prompt({ sessionId: session.id, text: "@near.txt @README.md" }),
      })
      assert.match(sent(world), /1\\tnear[\s\S]*1\\t# fixture/)
    },
    { git: true },
  )
})

test("the Markdown export shows attachments, and why one failed", async () => {
  await inWorld([text("ok")], async (world) => {
    world.tmp.write("a.txt", "one\ntwo\n")
    await world.ask("look @a.txt:2 @gone.txt")
    const markdown = await Session.exportMarkdown(world.session.id)
    assert.match(markdown, /<summary>@a\.txt:2<\/summary>\n\n```\n2\ttwo\n```/)
    assert.match(markdown, /@gone\.txt \(there is no such file/)
  })
})

const seeing = { provider: { openai: { models: { "fake-model": { input: ["text", "image"] } } } } }
const images = (messages: Message.Info[]) =>
  messages.flatMap((message) => (message.type === "image" ? [message.data] : []))

test("a file with image content becomes an image message; outside the work tree it is asked for once", async () => {
  await inWorld(
    [text("one"), text("The image shows a handwritten note.")],
    async (world) => {
      const bytes = image("note.png")
      world.tmp.write("picture.txt", bytes)
      await world.ask("see @picture.txt")
      assert.deepEqual(shapeOf(await world.messages()), ["user", "image", "assistant"])
      assert.ok(sent(world).includes(bytes.toString("base64")))
      const file = outside(world.tmp, "other", "")
      writeFileSync(file, bytes)
      const answered = world.ask(`and @${file}`)
      const [question] = await next()
      await Permission.reply(question!.id, "once")
      await answered
      assert.equal(images(await world.messages()).at(-1)?.state, "done")
      assert.equal(world.events.filter(({ type }) => type === "permission.requested").length, 1)
    },
    { config: seeing },
  )
})

test("refresh retries an image that failed", async () => {
  await inWorld(
    [text("one"), text("The image shows a handwritten note.")],
    async (world) => {
      const bytes = image("note.png")
      world.tmp.write("note.png", bytes.subarray(0, 2_000))
      await world.ask("see @note.png")
      const [failed] = images(await world.messages())
      assert.equal(failed?.state, "failed")
      assert.match(failed?.error ?? "", /breaks off/)
      world.tmp.write("note.png", bytes)
      await world.ask("now?", { refresh: true })
      const [done] = images(await world.messages())
      assert.deepEqual([done?.state, done?.error], ["done", undefined])
      assert.ok(sent(world).includes(bytes.toString("base64")))
    },
    { config: seeing },
  )
})
