// A long answer while the window is resized three times: each finished line is in the scrollback once, in xterm and in tmux,
// and what was printed before the program is still there.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { type TestContext, test } from "node:test"
import { command } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const lines = Array.from({ length: 260 }, (_, i) => `line-${String(i).padStart(3, "0")}`)
/** Paragraphs, lists and code, some of them wider than the smallest window. */
const answer = lines
  .map(
    (line, i) =>
      `${i % 7 === 0 ? "\n" : ""}${i % 3 ? "- " : "\n"}${line} ${"some words more ".repeat(i % 6)}`,
  )
  .join("\n")
const sizes = [
  [80, 30],
  [120, 40],
  [60, 20],
] as const
const forbidden =
  /\u001b\[[23]J|\u001b\[\d*;?\d*r|\u001b\[\d*[ST]|\u001b\[\?(?:1049|47|1047|100[0-36]|1015)[hl]/

/** `most`: lines that may be there twice. */
function check(all: string, most: number, t: TestContext): void {
  const counts = lines.map((line) => all.split(line).length - 1)
  const [lost, doubled] = [counts.filter((n) => n === 0).length, counts.filter((n) => n > 1).length]
  t.diagnostic(`of 260 lines ${lost} are lost and ${doubled} doubled after three resizes`)
  assert.equal(lost, 0, all)
  assert.ok(doubled <= most, all)
  assert.match(all, /^printed before$/m)
  assert.match(all, /^The end\.$/m)
  assert.equal(all.match(/working \d+ s/g), null)
}

test("260 lines of an answer are in xterm's scrollback once after three resizes", async (t) => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text(`${answer}\n\nThe end.`, { deltas: 600, delay: 4 })])
  await using terminal = await openXterm(tmp, ["go"], {
    env: env(llm, "chat").variables,
    columns: 120,
    rows: 40,
    before: "echo printed before",
  })
  for (const [i, [columns, rows]] of sizes.entries()) {
    await until(() => terminal.all().includes(lines[60 * (i + 1)]!), lines[60 * (i + 1)])
    terminal.resize({ columns, rows })
  }
  await terminal.sees("The end.")
  await terminal.sees(/^ask · /m)
  terminal.type("\u0004")
  assert.equal(await terminal.exit, 0)
  // The fixture resizes the terminal some milliseconds before the program can know: a frame in between is of the old size, and
  // may leave a line of the tail behind.
  check(terminal.all(), sizes.length, t)
  assert.doesNotMatch(terminal.bytes(), forbidden)
})

test("260 lines of an answer are in tmux's scrollback once after three resizes", async (t) => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text(`${answer}\n\nThe end.`, { deltas: 600, delay: 4 })])
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-L", `vitamin-${process.pid}`, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...tmp.env, ...env(llm, "chat").variables, TMUX: "" },
      cwd: tmp.path,
    })
  const screen = () => tmux("capture-pane", "-p", "-S", "-", "-t", "0")
  tmux("new-session", "-d", "-x", "120", "-y", "40", "sh")
  try {
    tmux("set-option", "-g", "history-limit", "100000")
    tmux("new-window", `echo printed before; '${process.execPath}' '${command}' go; exec sleep 1000`)
    tmux("kill-window", "-t", ":0")
    tmux("move-window", "-r")
    for (const [i, [columns, rows]] of sizes.entries()) {
      await until(() => screen().includes(lines[60 * (i + 1)]!), lines[60 * (i + 1)])
      tmux("resize-window", "-x", String(columns), "-y", String(rows))
    }
    await until(() => /The end\..*^ask · /ms.test(screen()), "the end")
    tmux("send-keys", "C-d")
    await until(() => screen().includes("Go on with"), "the exit")
    check(tmux("capture-pane", "-p", "-S", "-"), 0, t)
  } finally {
    tmux("kill-server")
  }
})

test("a program that starts on the first row of tmux leaves none of its frames in the scrollback", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The end.", { deltas: 20, delay: 5 })])
  const tmux = (...args: string[]) =>
    execFileSync("tmux", ["-L", `vitamin-top-${process.pid}`, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...tmp.env, ...env(llm, "chat").variables, TMUX: "" },
      cwd: tmp.path,
    })
  const screen = () => tmux("capture-pane", "-p", "-S", "-", "-t", "0")
  tmux("new-session", "-d", "-x", "100", "-y", "30", `'${process.execPath}' '${command}' go`)
  try {
    await until(() => /The end\..*^ask · /ms.test(screen()), "the end")
    tmux("resize-window", "-x", "90", "-y", "30")
    await until(() => tmux("display-message", "-p", "#{pane_width}").trim() === "90", "the resize")
    tmux("send-keys", "x")
    await until(() => screen().includes("> x"), "the key")
    assert.match(screen(), /^▌ go\n\nThe end\.\n\n> x\nask · [^\n]*\n*$/)
  } finally {
    tmux("kill-server")
  }
})
