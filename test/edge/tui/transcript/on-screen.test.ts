// The transcript in the real program, in a real terminal.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, calls, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { openXterm } from "../../../fixture/xterm.ts"

const answer = [
  "# Ports",
  "",
  "| service | port |",
  "|---|--:|",
  "| web | 3000 |",
  "",
  "- [x] read `a.ts`",
  "",
  "```ts",
  "const port = 3000 // web",
  "```",
].join("\n")

test("calls, a table and code that ends the answer are on the screen", async () => {
  await using tmp = await tmpdir({ git: true })
  writeFileSync(join(tmp.path, "a.ts"), "const port = 3000\n")
  await using llm = await fakeLlm([
    calls([call("read", { path: "a.ts" }), call("glob", { pattern: "*.ts" })]),
    text(answer),
  ])
  await using terminal = await openXterm(tmp, ["which ports?"], { env: env(llm, "chat").variables })
  await terminal.sees(/const port = 3000 \/\/ web\n```\n/)
  assert.match(
    terminal.screen(),
    /▌ which ports\?\n\n✓ Read a\.ts:1-1\n✓ Find files \*\.ts \(1\)\n\nPorts\n\n/,
  )
  assert.match(terminal.screen(), /service │ port\n────────┼─────\nweb {5}│ 3000\n\n☑ read a\.ts\n\n```ts\n/)
  // The keyword has a colour of its own.
  assert.match(terminal.bytes(), /\u001b\[38;2;[\d;]+mconst\u001b\[39m/)
})

test("escape sequences of the model do not act, and long output is a key away", async () => {
  await using tmp = await tmpdir({ git: true })
  const hostile = "a\u001b[2Jb\u001b]0;owned\u0007c"
  await using llm = await fakeLlm([call("read", { path: "long.txt" }), text(`${hostile}\n\nend of it`)])
  writeFileSync(join(tmp.path, "long.txt"), Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n"))
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees("end of it")
  assert.match(terminal.screen(), /a\\u001b\[2Jb\\u001b\]0;owned\\u0007c/)
  assert.doesNotMatch(terminal.bytes(), /\u001b\[2J|owned\u0007/)
  terminal.type("\u000f")
  await terminal.sees(/line 39/)
})

test("links are hyperlinks where the terminal is known to have them, and show their address elsewhere", async () => {
  const words =
    "[docs](https://a.test/x) [evil](javascript:x) [https://good.test](https://evil.test/) \u001b]8;;file:///raw\u001b\\raw"
  for (const [variables, isLinked] of [
    [{ TERM_PROGRAM: "WezTerm" }, true],
    [{ TERM_PROGRAM: "WezTerm", TMUX: "/nowhere,1,0" }, false],
    [{}, false],
  ] as const) {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text(`${words}\n\nThe end.`)])
    await using terminal = await openXterm(tmp, ["go"], {
      env: { ...env(llm, "chat").variables, ...variables },
    })
    await terminal.sees("The end.")
    assert.match(
      terminal.screen(),
      isLinked ? /docs evil \(javascript:x\)/ : /docs \(https:\/\/a\.test\/x\) evil \(javascript:x\)/,
    )
    assert.match(terminal.screen(), /https:\/\/good\.test \(https:\/\/evil\.test\/\)/)
    const links = [...terminal.bytes().matchAll(/\u001b\]8;;([^\u001b]*)\u001b\\/g)].map(([, to]) => to)
    const own = ["https://a.test/x", "https://good.test/", ""]
    assert.deepEqual([...new Set(links)].sort(), isLinked ? own.sort() : [])
  }
})
