// How the terminal behaves around the conversation: the title, the call when nobody looks, the animation, colours, and what
// it does while it is idle.
import assert from "node:assert/strict"
import { chmodSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const [blur, focus] = ["\u001b[O", "\u001b[I"]
const isReady = /^ask · /m
const noteTimers = fileURLToPath(new URL("../../fixture/note-timers.mjs", import.meta.url))
const command = fileURLToPath(new URL("../../../dist/vitamin.js", import.meta.url))
/** In milliseconds. V8 looks for garbage every 8.1 seconds until it finds a pause. */
const longestPeriod = 12_000
/** Nothing of the surroundings decides which terminal this is. */
const plainTerminal = { TERM_PROGRAM: "", KITTY_WINDOW_ID: "", VTE_VERSION: "" }

test("the title names the folder and the session, and is taken back at the end", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Fine.")])
  await using terminal = await openXterm(tmp, ["fix\u001b]2;evil\u0007 the bug"], {
    env: env(llm, "chat").variables,
  })
  await terminal.sees("Fine.")
  await terminal.sees(isReady)
  terminal.type("\u0004")
  await terminal.exit
  const titles = [...terminal.bytes().matchAll(/\u001b\]2;([^\u0007\u001b]*)\u0007/g)].map(
    (found) => found[1]!,
  )
  assert.equal(titles[0], basename(tmp.path))
  assert.match(titles.at(-1)!, /^project: fix/)
  assert.ok(!titles.includes("evil"))
  assert.ok(terminal.bytes().indexOf("\u001b[22;0t") < terminal.bytes().indexOf("\u001b]2;"))
  assert.equal(terminal.bytes().split("\u001b[23;0t").length, 2)
})

test("a question and the end of a turn call the person if the window has no focus, and only then", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch a" }), text("Done."), text("Again.")])
  await using terminal = await openXterm(tmp, [], {
    env: { ...env(llm, "chat").variables, ...plainTerminal, TERM_PROGRAM: "WezTerm" },
  })
  await terminal.sees(isReady)
  const calls = () => terminal.bytes().match(/\u0007(?=\u001b\]9;)\u001b\]9;[^\u001b]*/g) ?? []
  terminal.type(`${blur}go${enter}`)
  await terminal.sees("[y]es")
  assert.equal(calls().length, 1)
  assert.match(calls()[0]!, /project asks: .*touch a/)
  await terminal.sees(/^waits for you · ask/m)
  terminal.type(`${focus}${blur}`)
  await sleep(700)
  terminal.type("y")
  await terminal.sees("Done.")
  await terminal.sees(isReady)
  assert.equal(calls().length, 2)
  assert.match(calls()[1]!, /the turn is over/)
  terminal.type(`${focus}more${enter}`)
  await terminal.sees("Again.")
  await terminal.sees(isReady)
  assert.equal(calls().length, 2)
})

test("GNOME's terminals get their own notification; the Linux console gets a bell, no title and no question", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const [variables, expected] of [
    [{ VTE_VERSION: "7600" }, /\u0007\u001b\]777;notify;vitamin;[^\u001b]*the turn is over\u001b\\/],
    [{ TERM: "linux", COLORTERM: "" }, /\u0007(?!\u001b\])/],
  ] as const) {
    await using llm = await fakeLlm([text("Done.")])
    await using terminal = await openXterm(tmp, [], {
      env: { ...env(llm, "chat").variables, ...plainTerminal, ...variables },
    })
    await terminal.sees(isReady)
    terminal.type(`${blur}go${enter}`)
    await terminal.sees("Done.")
    await terminal.sees(isReady)
    assert.match(terminal.bytes(), expected)
    if ("TERM" in variables) assert.doesNotMatch(terminal.bytes(), /\u001b\]|\u001b\[2[23];0t|38;[25];/)
  }
})

test("in tmux a notification is passed on to the outer terminal, if tmux allows it", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const allowed of ["on", "off"]) {
    tmp.write("bin/tmux", `#!/bin/sh\necho '${allowed} xterm-kitty kitty(0.40)'\n`)
    chmodSync(join(tmp.path, "bin/tmux"), 0o755)
    await using llm = await fakeLlm([text("Done.")])
    await using terminal = await openXterm(tmp, [], {
      env: {
        ...env(llm, "chat").variables,
        ...plainTerminal,
        TERM: "tmux-256color",
        TMUX: "/nowhere,1,0",
        PATH: `${join(tmp.path, "bin")}:${process.env.PATH}`,
      },
    })
    await terminal.sees(isReady)
    terminal.type(`${blur}go${enter}`)
    await terminal.sees("Done.")
    await terminal.sees(isReady)
    await until(() => allowed === "off" || terminal.bytes().includes("\u001bPtmux;"), "the notification")
    terminal.type("\u0004")
    await terminal.exit
    const passed = /\u001bPtmux;\u001b\u001b\]9;[^\u001b]*the turn is over\u001b\u001b\\\u001b\\/.test(
      terminal.bytes(),
    )
    assert.equal(passed, allowed === "on", JSON.stringify(terminal.bytes().slice(-600)))
  }
})

test("while the session is idle no timer of ours fires, and a change of the configuration counts all the same", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done."), text("Again.")])
  const timers = join(tmp.path, ".timers")
  await using terminal = await openXterm(tmp, ["go"], {
    env: {
      ...env(llm, "chat").variables,
      NODE_OPTIONS: `--import=${noteTimers}`,
      TIMERS_FROM: timers,
    },
  })
  await terminal.sees("Done.")
  await terminal.sees(isReady)
  // The turn leaves something behind: a frame, and a cache that is written. Then there are four seconds without any.
  await until(async () => {
    tmp.write(".timers", "")
    await sleep(4_000)
    return readFileSync(timers, "utf8") === ""
  }, "no timer fires")
  tmp.write("../config/vitamin/vitamin.jsonc", '{ "terminal": { "keys": { "app.newline": "f2" } } }')
  terminal.type(`again${enter}`)
  await terminal.sees("Again.")
  terminal.type("a\u001bOQb")
  await terminal.sees(/^> a\n {2}b$/m)
})

test("after a turn the program comes to rest: its main thread is never woken up", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const program = `sh -c 'echo $$ > .pid; exec "${process.execPath}" "${command}" go'`
  await using terminal = await openXterm(tmp, [], { program, env: env(llm, "chat").variables })
  await terminal.sees("Done.")
  await terminal.sees(isReady)
  const status = `/proc/${readFileSync(join(tmp.path, ".pid"), "utf8").trim()}/status`
  const wakeUps = () => /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(status, "utf8"))![1]
  let [last, since] = [wakeUps(), performance.now()]
  await until(() => {
    const now = wakeUps()
    if (now !== last) [last, since] = [now, performance.now()]
    return performance.now() - since > longestPeriod
  }, "a rest")
  terminal.type("x")
  await terminal.sees("> x")
})

for (const [name, variables, answer, expected] of [
  ["light by the terminal's answer", {}, "\u001b]11;rgb:ffff/ffff/ffff\u001b\\", "38;2;0;82;186"],
  [
    "dark by the terminal's answer",
    { COLORFGBG: "0;15" },
    "\u001b]11;rgb:0000/0000/0000\u001b\\",
    "38;2;122;178;255",
  ],
  ["256 colours", { COLORTERM: "" }, "", "38;5;"],
  ["16 colours", { COLORTERM: "", TERM: "xterm-color" }, "", "1;34m"],
  ["tmux", { COLORTERM: "", TERM: "tmux-256color" }, "", "38;5;"],
  ["screen", { COLORTERM: "", TERM: "screen", STY: "1.pts" }, "", "1;34m"],
  ["the Linux console", { TERM: "linux", COLORTERM: "truecolor", TMUX: "/nowhere,1,0" }, "", "1;34m"],
  ["ssh, with no answer", { SSH_TTY: "/dev/pts/1", SSH_CONNECTION: "a b" }, "", "38;2;"],
  ["NO_COLOR", { NO_COLOR: "1" }, "", "[1mTitle"],
] as const)
  test(`colours: ${name}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("# Title\n\nText.")])
    await using terminal = await openXterm(tmp, [], { env: { ...env(llm, "chat").variables, ...variables } })
    await terminal.sees(isReady)
    terminal.type(`${answer}go${enter}`)
    await terminal.sees("Text.")
    const title =
      terminal
        .bytes()
        .match(/[^\n]*Title/g)
        ?.at(-1) ?? ""
    assert.ok(title.includes(expected), JSON.stringify(title))
    if (name === "NO_COLOR") assert.doesNotMatch(terminal.bytes(), /\u001b\[[\d;]*3[0-8]/)
  })

test("the Linux console gets characters that its fonts have", async () => {
  await using tmp = await tmpdir({ git: true })
  const script = [
    call("bash", { command: "seq 30" }),
    call("todo", { todos: [{ text: "look", status: "done" }] }),
    text("- “a” → b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\nDone."),
  ]
  await using llm = await fakeLlm(script)
  await using terminal = await openXterm(tmp, ["--yes", "go"], {
    env: { ...env(llm, "chat").variables, TERM: "linux", TMUX: "/nowhere,1,0" },
  })
  await terminal.sees(/\| go\n\n\+ Run seq 30\n.*~ 25 more lines.*x \| y\n--\+--\n.*Done\.\n\nx look\n/s)
  // ASCII, and the Latin letters and signs of ISO 8859-1.
  assert.doesNotMatch(terminal.bytes(), /[^\u0000-\u00ff]/)
})

test("where no focus is reported, a turn that ends calls only a person who has not typed for half a minute", async () => {
  await using tmp = await tmpdir({ git: true })
  const clock = tmp.write(
    "clock.mjs",
    `import { existsSync } from "node:fs"
     const real = Date.now
     Date.now = () => real() + (existsSync("later") ? 31_000 : 0)`,
  )
  const wait = (file: string) => call("bash", { command: `until [ -e ${file} ]; do sleep 0.05; done` })
  await using llm = await fakeLlm([wait("one"), text("First."), wait("two"), text("Second.")])
  await using terminal = await openXterm(tmp, ["--yes"], {
    env: {
      ...env(llm, "chat").variables,
      ...plainTerminal,
      TERM: "linux",
      NODE_OPTIONS: `--import=${clock}`,
    },
  })
  await terminal.sees(/^yes to all/m)
  for (const [file, answer] of [
    ["one", "First."],
    ["two", "Second."],
  ] as const) {
    assert.doesNotMatch(terminal.bytes(), /\u0007/)
    terminal.type(`go${enter}`)
    await terminal.sees(/Run until/)
    await until(() => llm.requests.length === (file === "one" ? 1 : 3), "the turn")
    if (file === "two") tmp.write("later", "")
    tmp.write(file, "")
    await terminal.sees(answer)
    await terminal.sees(/^yes to all/m)
  }
  assert.match(terminal.bytes(), /\u0007/)
})
