// What must never reach an editor, whatever a model, tool or file contains: secrets, floods, control characters.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import { replay, toolCallOf } from "#edge/acp/update/updates.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { mcpJson, tinyServer } from "../../../ability/mcp/servers.ts"
import { defineTool } from "../../../engine/session/harness.ts"
import { next } from "../../../engine/session/needy.ts"
import { badCall, call, calls, reasoning, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { createEditor, textIn } from "../editor.ts"
import { type Followed, inFollowed } from "../followed.ts"

test("no update contains a secret, not even one that became known later", async () => {
  const secret = "sk-very-secret-value-0123456789"
  const later = "sk-learned-about-only-afterwards"
  const script = [
    calls([
      text(`I say ${secret}`),
      call("echo", { value: `${secret} ${later}` }),
      call("read", { path: "a.txt" }),
    ]),
    call("write", { path: "a.txt", content: `${secret} and more` }),
    call("bash", { command: `echo ${secret}\necho ${later}` }),
    call("todo", { todos: [{ text: `hide ${secret}`, status: "pending" }] }),
    text("done"),
  ]
  await inFollowed(script, async ({ tmp, ask, editor, session }) => {
    Secret.register(secret, "a key")
    tmp.write("a.txt", `${secret}\n${later}\n`)
    defineTool("echo", async ({ value }) => `echo ${value}`, { readOnly: true })
    const work = ask(`My title is ${secret}`, { rules: [Permission.parseRule("bash.execute:*")] })
    const [request] = await next()
    const shown = await toolCallOf(request!)
    assert.ok(!JSON.stringify(shown).includes(secret))
    assert.match(JSON.stringify(shown), /\[a key\]/)
    await Permission.reply(request!.id, "once")
    await work
    assert.ok(editor.shown().length > 5)
    assert.ok(!JSON.stringify(editor.updates).includes(secret))
    assert.match(JSON.stringify(editor.updates), /\[a key\]/)
    Secret.register(later, "another key")
    const again = createEditor()
    await replay({ sessionId: session.id, send: again.send })
    assert.match(JSON.stringify(again.updates), /\[another key\]/)
    for (const value of [secret, later]) assert.ok(!JSON.stringify(again.updates).includes(value))
  })
})

test("huge arguments and outputs are bounded in every update, and each cut is marked", async () => {
  const huge = "0123456789".repeat(200_000)
  const many = Array.from({ length: 5_000 }, (_, i) => ({ oldText: `old ${i}`, newText: `new ${i}` }))
  const long = many.slice(0, 20).map(({ oldText }) => ({ oldText, newText: "z".repeat(30_000) }))
  const deep = JSON.parse(`${'{"a":['.repeat(500)}1${"]}".repeat(500)}`)
  const script = [
    calls([
      call("echo", { value: huge }),
      call("write", { path: "huge.txt", content: huge }),
      call("edit", { path: "missing.txt", edits: many }),
      call("edit", { path: "missing.txt", edits: long }),
      call("bash", { command: `echo ${"x".repeat(50_000)}` }),
      call("no_such_tool", deep),
      badCall("read", huge),
      call("n".repeat(5_000), Object.fromEntries(many.map((value, i) => [`key ${i}`, value]))),
      call("read", { path: `${"d/".repeat(10_000)}a` }),
    ]),
    text("done"),
  ]
  const models = { "fake-model": { context: 20_000_000, output: 1_000 } }
  const config = { provider: { openai: { models } } }
  const look = async ({ ask, editor, tmp }: Followed) => {
    defineTool("echo", async ({ value }) => value!, { readOnly: true })
    await ask("go", { asks: "once" }, { stall: 60_000 })
    const called = editor.calls()
    assert.equal(called.length, 9)
    for (const { rawInput, rawOutput } of called)
      assert.ok(JSON.stringify([rawInput, rawOutput]).length < 100_000)
    assert.match(JSON.stringify(called[0]!.rawInput), /… \(1996000 more characters\)/)
    const [, left] = /\[… (\d+) characters are left out …\]/.exec(textIn(called[0]!))!
    assert.ok(Number(left) > 20_000)
    assert.match(textIn(called[1]!), /A change of 2000000 characters, too long to show: `huge\.txt`/)
    assert.match(textIn(editor.of("tool_call")[2]!), /and 4980 more changes/)
    assert.deepEqual(called[8]!.locations, [])
    assert.ok(called.every(({ locations }) => locations!.every(({ path }) => path.startsWith(tmp.path))))
  }
  await inFollowed(script, look, { config })
})

test("a flood of output of a running call stays bounded", async () => {
  await inFollowed([call("flood"), text("done")], async ({ ask, editor }) => {
    Tool.define("flood", () => ({
      description: "Prints",
      parameters: z.object({}),
      permission: () => [{ permission: "file.read", target: "." }],
      async execute(_, { report }) {
        for (let i = 0; i < 50; i++) report?.(`${i} ${"y".repeat(4_000)}\n`)
        return "over"
      },
    }))
    await ask("go")
    for (const update of editor.of("tool_call_update")) assert.ok(JSON.stringify(update).length < 10_000)
    assert.equal(textIn(editor.calls()[0]!), "```\nover\n```")
  })
})

test("control characters are escaped in calls and results, and unchanged in the model's text", async () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\u202egpj.exe"
  const script = [
    calls([
      reasoning("hm", text(`say ${evil}`)),
      call("bash", { command: `printf '${evil}'\n\`\`\`\n# heading` }),
      call("echo", { value: evil }),
      call("read", { path: `${evil}.txt` }),
      call(evil, {}),
    ]),
    text("done"),
  ]
  await inFollowed(script, async ({ ask, editor }) => {
    defineTool("echo", async ({ value }) => `${value}\r\n\ttab`, { readOnly: true })
    await ask("go", { asks: "once" })
    assert.equal(editor.texts("agent")[0], `say ${evil}`)
    const called = editor.calls()
    assert.equal(called.length, 4)
    for (const one of called) {
      assert.doesNotMatch(one.title, /\p{Cc}|\u202e/u)
      assert.doesNotMatch(textIn(one), /(?![\n\t])\p{Cc}|\u202e/u)
    }
    assert.match(textIn(called[1]!), /\\u001b\[2J\\u202egpj\.exe\n\ttab/)
  })
})

test("images of MCP results are added to the calls that returned them", async () => {
  const picture = image("note.png").toString("base64")
  const shot = { type: "image", data: picture, mimeType: "image/png" }
  const tools = [
    { name: "camera", result: { content: [{ type: "text", text: "Here:" }, shot, shot] } },
    { name: "words", result: { content: [{ type: "text", text: "only words" }] } },
    { name: "broken", result: { content: [{ type: "image", data: "bm8=", mimeType: "image/png" }] } },
  ]
  const script = [
    calls([call("tiny_words"), call("tiny_camera"), call("tiny_words"), call("tiny_broken")]),
    text("done"),
  ]
  await inFollowed(
    script,
    async ({ tmp, ask, editor }) => {
      tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({ tools }) }))
      await Trust.grant(tmp.path)
      await ask("go", { asks: "once" })
      const called = editor.calls()
      assert.deepEqual(
        called.map(({ kind, title }) => `${kind} ${title}`),
        ["other `tiny_words`", "other `tiny_camera`", "other `tiny_words`", "other `tiny_broken`"],
      )
      const imagesIn = called.map(({ content = [] }) =>
        content.flatMap((item) =>
          item.type === "content" && item.content.type === "image" ? [item.content] : [],
        ),
      )
      assert.deepEqual(
        imagesIn.map(({ length }) => length),
        [0, 2, 0, 0],
      )
      assert.deepEqual(imagesIn[1]![0], { type: "image", data: picture, mimeType: "image/png" })
      assert.match(textIn(called[1]!), /Here:/)
      assert.match(textIn(called[3]!), /\[image: .*not an image/)
      assert.ok(!JSON.stringify(called[1]!.rawOutput).includes(picture.slice(0, 100)))
    },
    {
      git: true,
      config: { provider: { openai: { models: { "fake-model": { input: ["text", "image"] } } } } },
    },
  )
})

test("paths are reported as absolute paths", async () => {
  const paths = ["../../etc/passwd", "/etc/passwd", "./a/../b.txt", "~/x", "a\0b", ""]
  const script = [calls(paths.map((path) => call("read", { path }))), text("done")]
  await inFollowed(script, async ({ ask, editor, tmp }) => {
    await ask("go", { asks: "deny" })
    assert.deepEqual(
      editor.calls().map(({ locations }) => locations!.map(({ path }) => path)),
      [
        [join(tmp.path, "../../etc/passwd")],
        ["/etc/passwd"],
        [join(tmp.path, "b.txt")],
        [join(tmp.path, "~/x")],
        [],
        [],
      ],
    )
  })
})
