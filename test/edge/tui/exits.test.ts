// The terminal is given back as it was, whatever ends or interrupts the program: Ctrl-Z and fg, an editor, an error, a
// terminal that goes away.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { hasProcess } from "#util/process.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm, type Xterm } from "../../fixture/xterm.ts"

const command = fileURLToPath(new URL("../../../dist/vitamin.js", import.meta.url))
const enter = "\r"
const [ctrlC, ctrlD, ctrlG, ctrlZ] = ["\u0003", "\u0004", "\u0007", "\u001a"]
const isReady = /^ask · /m
const shell =
  "echo 'set enable-bracketed-paste off' > inputrc; INPUTRC=$PWD/inputrc PS1='shell> ' bash --norc --noprofile -i"

const read = (tmp: Tmp, name: string) => readFileSync(join(tmp.path, name), "utf8")
const count = (whole: string, part: string | RegExp) => whole.split(part).length - 1

/** The last change of each mode that the program sets. */
function modes(terminal: Xterm): Record<string, string | undefined> {
  const last = (pattern: RegExp) => terminal.bytes().match(pattern)?.at(-1)
  return {
    paste: last(/\u001b\[\?2004[hl]/g),
    focus: last(/\u001b\[\?1004[hl]/g),
    cursor: last(/\u001b\[\?25[hl]/g),
    title: last(/\u001b\[2[23];0t/g),
  }
}

const given = { paste: "\u001b[?2004l", focus: "\u001b[?1004l", cursor: "\u001b[?25h", title: "\u001b[23;0t" }
const taken = { ...given, paste: "\u001b[?2004h", focus: "\u001b[?1004h", title: "\u001b[22;0t" }

test("Ctrl-Z gives the terminal to the shell, and fg brings the tail back once, with nothing lost above", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The first answer."), text("The second answer.")])
  await using terminal = await openXterm(tmp, [], {
    env: env(llm, "chat").variables,
    program: shell,
  })
  await terminal.sees("shell> ")
  terminal.type(`stty sane; stty -g > before; '${process.execPath}' '${command}'${enter}`)
  await terminal.sees(isReady)
  terminal.type(`one${enter}`)
  await terminal.sees("The first answer.")
  await terminal.sees(isReady)
  for (const round of ["first", "second"]) {
    terminal.type(`draft ${round}`)
    await terminal.sees(`draft ${round}`)
    terminal.type(ctrlZ)
    await terminal.sees(/Stopped.*shell>\s*$/s)
    assert.deepEqual(modes(terminal), given)
    assert.doesNotMatch(terminal.screen(), /^ask · |draft/m)
    terminal.type(`stty -g > while; echo ${round}-$((40 + 2))${enter}`)
    await terminal.sees(`${round}-42`)
    assert.equal(read(tmp, "while"), read(tmp, "before"))
    terminal.type(`fg${enter}`)
    await terminal.sees(`draft ${round}`)
    assert.deepEqual(modes(terminal), taken)
    terminal.type(ctrlC)
    await terminal.misses(/draft/)
  }
  terminal.type(`two${enter}`)
  await terminal.sees("The second answer.")
  await terminal.sees(isReady)
  terminal.type(ctrlD)
  await terminal.sees(/Go on with.*shell>\s*$/s)
  assert.equal(count(terminal.all(), "The first answer."), 1)
  assert.equal(count(terminal.all(), "The second answer."), 1)
  assert.equal(count(terminal.all(), /^ask · /m), 0, terminal.all())
})

test("Ctrl-G writes the prompt in $EDITOR, also if both were stopped in between", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Read it.")])
  tmp.write(
    "editor.sh",
    'cat "$1" > seen; stty -g > in-editor; echo "in the editor"; touch started; until [ -e go ]; do sleep 0.05; done; printf "two\\nlines\\n" > "$1"',
  )
  await using terminal = await openXterm(tmp, [], {
    env: { ...env(llm, "chat").variables, EDITOR: "sh editor.sh", VISUAL: "" },
    program: shell,
  })
  await terminal.sees("shell> ")
  terminal.type(`stty sane; stty -g > before; '${process.execPath}' '${command}'${enter}`)
  await terminal.sees(isReady)
  terminal.type("draft")
  await terminal.sees("> draft")
  terminal.type(ctrlG)
  await terminal.sees("in the editor")
  assert.equal(read(tmp, "seen"), "draft")
  assert.equal(read(tmp, "in-editor"), read(tmp, "before"))
  assert.deepEqual(modes(terminal), given)
  // The terminal stops the whole job now, since the editor has left it in its usual mode.
  terminal.type(ctrlZ)
  await terminal.sees(/Stopped.*shell>\s*$/s)
  terminal.type(`fg${enter}`)
  await terminal.sees(/shell> fg\n\S/)
  assert.equal(modes(terminal).paste, given.paste, "the program waits for the editor")
  tmp.write("go", "")
  await terminal.sees(/^> two\n {2}lines$/m)
  assert.deepEqual(modes(terminal), taken)
  terminal.type(enter)
  await terminal.sees("Read it.")
  assert.match(JSON.stringify(llm.requests[0]!.body), /two\\nlines/)
})

test("an error that nobody caught is printed below the transcript, and the modes are restored", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("An answer.")])
  const config = join(dirname(tmp.path), "config.ts")
  tmp.write(
    "../config.ts",
    'import { existsSync } from "node:fs"\nsetInterval(() => { if (existsSync("go")) throw new Error("a planted error") }, 50)\nexport default {}\n',
  )
  await using terminal = await openXterm(tmp, ["say something"], {
    env: { ...env(llm, "chat").variables, VITAMIN_CONFIG: config },
    before: "stty -g > before",
    after: "stty -g > after",
  })
  await terminal.sees("An answer.")
  await terminal.sees(isReady)
  tmp.write("go", "")
  assert.equal(await terminal.exit, 1)
  assert.equal(read(tmp, "after"), read(tmp, "before"))
  assert.deepEqual(modes(terminal), given)
  assert.match(terminal.all(), /An answer\..*a planted error/s)
  assert.doesNotMatch(terminal.all(), /^ask · /m)
})

test("a terminal that is closed ends the program", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("An answer.")])
  await using terminal = await openXterm(tmp, ["say something"], {
    env: env(llm, "chat").variables,
    program: `sh -c 'echo $$ > pid; exec "$0" "$@"' '${process.execPath}' '${command}' 'say something'`,
  })
  await terminal.sees("An answer.")
  const pid = Number(read(tmp, "pid"))
  terminal.child.process.kill("SIGKILL")
  await until(() => !hasProcess(pid), "the end of the program")
})

test("a signal before the program is ready ends it, and gives the terminal back", async () => {
  await using tmp = await tmpdir({ git: true })
  await using terminal = await openXterm(tmp, [], {
    before: "stty -g > before",
    after: "stty -g > after",
    program: `sh -c 'echo $$ > pid; exec "$0" "$@"' '${process.execPath}' '${command}'`,
  })
  await until(() => terminal.bytes().includes("\u001b[?2004h"), "the first frame")
  process.kill(Number(read(tmp, "pid")), "SIGTERM")
  assert.equal(await terminal.exit, 143)
  assert.equal(read(tmp, "after"), read(tmp, "before"))
  assert.deepEqual(modes(terminal), given)
})

test("Ctrl-Z without a shell that could continue the program stops nothing, and it takes keys again", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("An answer.")])
  await using terminal = await openXterm(tmp, [], {
    env: env(llm, "chat").variables,
    program: `exec '${process.execPath}' '${command}'`,
  })
  await terminal.sees(isReady)
  for (const round of ["one", "two"]) {
    terminal.type(ctrlZ)
    await until(
      () => count(terminal.bytes(), given.paste) > 0 && modes(terminal).paste === taken.paste,
      "the modes",
    )
    await terminal.sees(isReady)
    terminal.type(round)
    await terminal.sees(new RegExp(`^> ${round}$`, "m"))
    terminal.type(ctrlC)
    await terminal.misses(/^> (one|two)$/m)
  }
  terminal.type(`say something${enter}`)
  await terminal.sees("An answer.")
  await terminal.sees(isReady)
  assert.equal(count(terminal.all(), /^ask · /m), 1, terminal.all())
  terminal.type(ctrlD)
  assert.equal(await terminal.exit, 0)
  assert.deepEqual(modes(terminal), given)
})

test("a program that was stopped from outside and continued has each mode on once", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await using terminal = await openXterm(tmp, [], {
    env: env(llm, "chat").variables,
    program: `sh -c 'echo $$ > pid; exec "$0" "$@"' '${process.execPath}' '${command}'`,
  })
  await terminal.sees(isReady)
  const pid = Number(read(tmp, "pid"))
  process.kill(pid, "SIGSTOP")
  process.kill(pid, "SIGCONT")
  await until(() => count(terminal.bytes(), taken.paste) === 2, "the modes")
  terminal.type("draft")
  await terminal.sees("> draft")
  terminal.type(`${ctrlC}${ctrlD}`)
  assert.equal(await terminal.exit, 0)
  for (const mode of ["paste", "focus", "title"] as const)
    assert.equal(count(terminal.bytes(), taken[mode]), count(terminal.bytes(), given[mode]), mode)
})

test("a second Ctrl-D while the program leaves ends it at once", async () => {
  await using tmp = await tmpdir({ git: true })
  const stubborn = "trap '' TERM INT HUP; touch on; while :; do sleep 0.1; done"
  await using llm = await fakeLlm([call("bash", { command: stubborn })])
  await using terminal = await openXterm(tmp, ["--yes"], { env: env(llm, "chat").variables })
  await terminal.sees(/^yes to all · /m)
  terminal.type(`go${enter}`)
  await until(() => existsSync(join(tmp.path, "on")), "the command")
  // Both keys arrive together: a first one alone may print how to go on before the second comes.
  terminal.type(ctrlD + ctrlD)
  assert.equal(await terminal.exit, 0)
  assert.doesNotMatch(terminal.all(), /Go on with/)
})
