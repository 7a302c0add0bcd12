// Tool calls as an editor shows them.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Permission from "#ability/permission/permission.ts"
import { resultsOf } from "../../../engine/session/harness.ts"
import { next } from "../../../engine/session/needy.ts"
import { badCall, call, calls, text } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { textIn } from "../editor.ts"
import { inFollowed } from "../followed.ts"

const file = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"

test("every built-in tool is shown with its kind, title and location", async () => {
  await using page = await servePage("<title>A page</title><p>Some words ![x](http://127.0.0.1/x.png)</p>")
  const wanted: [string, object, { kind: string; title: RegExp; done: RegExp; place?: string }][] = [
    [
      "read",
      { path: "src/a.txt", startLine: 2, endLine: 3 },
      { kind: "read", title: /^Read `src\/a\.txt`$/, done: /^Read `src\/a\.txt:2-3`$/, place: "src/a.txt" },
    ],
    [
      "ls",
      { path: "src" },
      { kind: "search", title: /^List `src`$/, done: /^List `src \(1\)`$/, place: "src" },
    ],
    ["ls", {}, { kind: "search", title: /^List$/, done: /^List `\. \(1\)`$/ }],
    [
      "glob",
      { pattern: "**/*.txt" },
      { kind: "search", title: /^Find files `\*\*\/\*\.txt`$/, done: /\(1\)`$/ },
    ],
    [
      "grep",
      { pattern: "t`w|o", path: "src" },
      { kind: "search", title: /^Search ``t`w\|o``$/, done: /in \d/, place: "src" },
    ],
    [
      "symbols",
      { name: "nothing" },
      { kind: "search", title: /^Find definitions `nothing`$/, done: /\(0\)`$/ },
    ],
    ["recall", { text: "words" }, { kind: "search", title: /^Recall `words`$/, done: /\(\d+\+?\)`$/ }],
    ["tool_search", { query: "x" }, { kind: "search", title: /^Find tools `x`$/, done: /^Find tools `x`$/ }],
    ["todo", {}, { kind: "think", title: /^Plan$/, done: /^Plan `0 of 0 done`$/ }],
    [
      "bash",
      { command: "echo *a* __b__" },
      { kind: "execute", title: /^`echo \*a\* __b__`$/, done: /^`echo/ },
    ],
    ["fetch", { url: page.url }, { kind: "fetch", title: /^Fetch `http:/, done: /^Fetch `A page \(127/ }],
    [
      "write",
      { path: "new.txt", content: "new\n" },
      { kind: "edit", title: /^Write `new\.txt`$/, done: /^Write `new\.txt \(\+1 -0\)`$/, place: "new.txt" },
    ],
    [
      "edit",
      { path: "src/a.txt", edits: [{ oldText: "five\n", newText: "5\nmore\n" }] },
      {
        kind: "edit",
        title: /^Edit `src\/a\.txt`$/,
        done: /^Edit `src\/a\.txt \(\+2 -1\)`$/,
        place: "src/a.txt",
      },
    ],
    [
      "subtask",
      { task: "Say hello\nand more" },
      { kind: "think", title: /^Task `Say hello…`$/, done: /Say hello`$/ },
    ],
  ]
  const script = [calls(wanted.map(([name, args]) => call(name, args))), text("hello"), text("done")]
  await inFollowed(script, async ({ tmp, ask, editor, messages }) => {
    tmp.write("src/a.txt", file)
    defineAgent({ id: "all", systemPrompt: "All.", tools: [...new Set(wanted.map(([name]) => name))] })
    const rules = [Permission.parseRule(`network.fetch:${new URL("/", page.url)}*`)]
    await ask("go", { agent: "all", asks: "once", rules })
    const started = editor.of("tool_call")
    const called = editor.calls()
    assert.deepEqual(
      resultsOf(await messages()).map(({ status, output }) => (status === "success" ? "" : output)),
      wanted.map(() => ""),
    )
    for (const [i, [name, args, look]] of wanted.entries()) {
      const [first, last] = [started[i]!, called[i]!]
      assert.deepEqual([first.name, first.kind, first.status], [name, look.kind, "pending"])
      assert.match(first.title, look.title)
      assert.match(last.title, look.done)
      assert.equal(last.status, "completed", name)
      assert.deepEqual(last.rawInput, args)
      const places = (last.locations ?? []).map(({ path }) => path)
      assert.deepEqual(places, look.place ? [join(tmp.path, look.place)] : [], name)
    }
    const [read, , , , , , , , , bash, fetched, written, edited, task] = called
    assert.equal(read!.locations![0]!.line, 2)
    assert.match(textIn(read!), /^```\n.*two\n.*three\n```$/)
    assert.equal(textIn(bash!), "```\n*a* __b__\n```")
    assert.match(
      textIn(fetched!),
      /^```\n[\s\S]*\n```$/,
      "a page is shown as text, and nothing in it is loaded",
    )
    assert.deepEqual(written!.content, [
      { type: "diff", path: join(tmp.path, "new.txt"), oldText: null, newText: "new\n" },
    ])
    assert.deepEqual(edited!.content, [
      {
        type: "diff",
        path: join(tmp.path, "src/a.txt"),
        oldText: "two\nthree\nfour\nfive\nsix\nseven\neight\n",
        newText: "two\nthree\nfour\n5\nmore\nsix\nseven\neight\n",
      },
    ])
    assert.equal(edited!.locations![0]!.line, 5, "where the change begins")
    assert.deepEqual(started[12]!.content, [
      { type: "diff", path: join(tmp.path, "src/a.txt"), oldText: "five\n", newText: "5\nmore\n" },
    ])
    assert.equal(textIn(task!), "hello")
  })
})

test("a replaced file is shown as a diff, a long diff by its beginning, and an unchanged file as text", async () => {
  const long = Array.from({ length: 2_000 }, (_, i) => `line ${i}`).join("\n")
  const script = [
    call("write", { path: "a.txt", content: file.replace("two", "2") }),
    call("write", { path: "long.txt", content: long.replaceAll("line", "row") }),
    call("write", { path: "same.txt", content: "same" }),
    call("write", { path: "dots.txt", content: "more…\ntwo\n" }),
    call("edit", { path: "wide.txt", edits: [{ oldText: "c", newText: "d" }] }),
    text("done"),
  ]
  await inFollowed(script, async ({ tmp, ask, editor }) => {
    tmp.write("a.txt", file)
    tmp.write("long.txt", long)
    tmp.write("same.txt", "same")
    tmp.write("dots.txt", "some…\ntwo\n")
    tmp.write("wide.txt", `${"ab".repeat(500)}c`)
    await ask("go", { asks: "once" })
    const [one, two, three, dots, wide] = editor.calls()
    assert.deepEqual(one!.content, [
      {
        type: "diff",
        path: join(tmp.path, "a.txt"),
        oldText: "one\ntwo\nthree\nfour\nfive\n",
        newText: "one\n2\nthree\nfour\nfive\n",
      },
    ])
    assert.equal(one!.locations![0]!.line, 2)
    const [diff] = two!.content!
    assert.ok(diff?.type === "diff" && diff.oldText?.startsWith("line 0\nline 1\n"))
    assert.match(textIn(two!), /longer than shown/)
    assert.match(textIn(three!), /already exactly this/)
    const changed = { type: "diff", path: join(tmp.path, "dots.txt") }
    assert.deepEqual(dots!.content, [{ ...changed, oldText: "some…\ntwo\n", newText: "more…\ntwo\n" }])
    const part = { type: "diff", path: join(tmp.path, "wide.txt"), oldText: "c", newText: "d" }
    assert.deepEqual(wide!.content, [part], "for a line that is too wide, the diff has the texts of the call")
  })
})

test("calls that fail, are denied, unknown or without arguments are shown as failed with the reason", async () => {
  const script = [
    calls([
      call("read", { path: "missing.txt" }),
      call("bash", { command: "rm -rf x" }),
      call("no_such_tool", { a: 1 }),
      badCall("read", '{"path": '),
      call("read", { path: ["wrong"] }),
      call("edit", { path: 5, edits: "none" }),
      call("__proto__", {}),
    ]),
    text("done"),
  ]
  await inFollowed(script, async ({ ask, editor }) => {
    await ask("go", { asks: "deny" })
    const called = editor.calls()
    assert.deepEqual(
      called.map(({ statuses }) => statuses.at(-1)),
      called.map(() => "failed"),
    )
    assert.equal(called.length, 7)
    assert.match(textIn(called[0]!), /does not exist/)
    assert.deepEqual(called[0]!.statuses, ["pending", "in_progress", "failed"])
    assert.match(textIn(called[1]!), /was not run/)
    assert.deepEqual(called[1]!.statuses, ["pending", "failed"], "what is denied never ran")
    assert.match(textIn(called[2]!), /no_such_tool/)
    assert.equal(called[3]!.rawInput, '{"path": ')
    for (const { rawOutput } of called) assert.ok((rawOutput as { error: string }).error)
  })
})

test("output is shown while a command runs, and a long command is shown completely", async () => {
  const command = "echo one\nuntil [ -e go ]; do sleep 0.02; done\necho '```'\nexit 3"
  await inFollowed([call("bash", { command }), text("done")], async ({ tmp, ask, editor }) => {
    const work = ask("go", { asks: "once" })
    await until(() => /one\n```$/.test(textIn(editor.calls()[0] ?? {})), "the first line")
    assert.equal(editor.calls()[0]!.status, "in_progress")
    tmp.write("go", "")
    await work
    const [bash] = editor.calls()
    assert.equal(bash!.title, "`echo one… (exit 3)`")
    assert.equal(
      textIn(bash!),
      `${"````"}sh\n${command}\n${"````"}\n${"````"}\none\n\`\`\`\n[exit code 3]\n${"````"}`,
    )
    assert.equal((bash!.rawOutput as { exitCode: number }).exitCode, 3)
  })
})

test("a call that needs a permission is pending until the reply, and failed if it is rejected", async () => {
  const script = [
    calls([call("write", { path: "a.txt", content: "a" }), call("bash", { command: "echo hi" })]),
    text("done"),
  ]
  await inFollowed(script, async ({ ask, editor }) => {
    const work = ask("go")
    const [write, bash] = await next(2)
    assert.deepEqual(
      editor.calls().map(({ statuses }) => statuses.join()),
      ["pending", "pending"],
    )
    await Permission.reply(bash!.id, "reject", { message: "not now" })
    await Permission.reply(write!.id, "once")
    await work
    assert.deepEqual(
      editor.calls().map(({ statuses }) => statuses.join(" ")),
      ["pending in_progress completed", "pending failed"],
    )
    assert.match(textIn(editor.calls()[1]!), /not now/)
  })
})

async function servePage(html: string) {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html")
    response.end(html)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/page`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
