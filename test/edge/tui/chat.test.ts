// The interactive terminal as a person uses it: the built command in a real terminal, with a scripted model.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as pause } from "node:timers/promises"
import { vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const esc = "\u001b"
const read = (tmp: Tmp, name: string) => readFileSync(join(tmp.path, name), "utf8")
const isReady = /^ask · /m

test("vitamin opens the terminal, answers a prompt, and leaves the terminal as it was", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("It is **on port 3000**.")])
  await using terminal = await openXterm(tmp, [], {
    env: env(llm, "chat").variables,
    before: "echo printed before; stty -g > before",
    after: "stty -g > after",
  })
  await terminal.sees(isReady)
  terminal.type("Where is the port?")
  await terminal.sees("> Where is the port?")
  terminal.type(enter)
  await terminal.sees("It is on port 3000.")
  await terminal.sees(isReady)
  terminal.type("\u0003")
  await terminal.sees(/press ctrl\+c again/)
  terminal.type("\u0003")
  assert.equal(await terminal.exit, 0)
  assert.match(
    terminal.all(),
    /^printed before\n\n\/help lists the commands.*\n\n▌ Where is the port\?\n\nIt is on port 3000\.\n/m,
  )
  assert.match(terminal.all(), /Go on with: vitamin --session sess_\w+/)
  assert.equal(read(tmp, "after"), read(tmp, "before"))
  for (const mode of ["2004", "1004"]) {
    const changes = [...terminal.bytes().matchAll(new RegExp(`\\u001b\\[\\?${mode}([hl])`, "g"))]
    assert.equal(changes.at(-1)?.[1], "l", `mode ${mode} is off`)
  }
})

test("vitamin with a prompt sends it, and -c continues the session", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("The first answer."), text("The second answer.")])
  const { variables } = env(llm, "chat")
  {
    await using terminal = await openXterm(tmp, ["say something"], { env: variables })
    await terminal.sees("The first answer.")
    await terminal.sees(isReady)
    terminal.type("\u0004")
    assert.equal(await terminal.exit, 0)
  }
  await using terminal = await openXterm(tmp, ["-c"], { env: variables })
  await terminal.sees("The first answer.")
  terminal.type(`and more${enter}`)
  await terminal.sees("The second answer.")
  assert.match(JSON.stringify(llm.requests[1]!.body), /say something.*The first answer.*and more/)
})

for (const plain of [[], ["--plain"]])
  test(`-c applies --mode, --agent and --model to the session ${plain}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
    const { variables } = env(llm, "chat")
    const last = async () => JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)[0]
    const say = async (args: string[], answer: string) => {
      await using terminal = await openXterm(tmp, [...plain, ...args], { env: variables })
      await terminal.sees(answer)
      await terminal.sees(plain.length ? /^> ?$/m : /^(ask|plan) · /m)
      terminal.type("\u0004")
      assert.equal(await terminal.exit, 0, terminal.all())
    }
    await say(["first"], "One.")
    const before = await last()
    await say(["-c", "--mode", "plan", "--agent", "plan", "--model", "openai/other", "second"], "Two.")
    const after = await last()
    assert.equal(after.id, before.id)
    assert.deepEqual([after.mode, after.agent, after.model], ["plan", "plan", "openai/other"])
    assert.match(JSON.stringify(llm.requests[1]!.body), /"model":"other"/)
    await say(["-c", "--mode", "act", "third"], "Three.")
    assert.equal((await last()).mode, "act")
  })

test("a question shows the change; one key allows it, words reach the model", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "hello\n")
  const edit = call("edit", { path: "a.txt", edits: [{ oldText: "hello", newText: "goodbye" }] })
  await using llm = await fakeLlm([edit, call("bash", { command: "touch other" }), text("Both asked.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees(/^Edit a\.txt\?\n1 - hello\n1 \+ goodbye\n\[y\]es/m)
  assert.equal(read(tmp, "a.txt"), "hello\n")
  terminal.type("y")
  await terminal.sees(/^Run this command\?$/m)
  assert.equal(read(tmp, "a.txt"), "goodbye\n")
  // Right after an answer, keys do not count.
  await pause(1_000)
  terminal.type("t")
  await terminal.sees("say what to do instead:")
  terminal.type(`use the file tool${enter}`)
  await terminal.sees("Both asked.")
  assert.match(JSON.stringify(llm.requests[2]!.body), /the person rejected it and says: use the file tool/)
})

test("what is typed while the agent works waits in sight, joins the next step, and can be taken back", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "hello\n")
  const sleep = call("bash", { command: "until [ -e go ]; do sleep 0.05; done" })
  await using llm = await fakeLlm([sleep, text("Done with both.")])
  await using terminal = await openXterm(tmp, ["--yes", "wait"], { env: env(llm, "chat").variables })
  await terminal.sees(/Run until/)
  terminal.type(`also the tests${enter}`)
  await terminal.sees("waits: also the tests")
  terminal.type(`and the docs${enter}`)
  await terminal.sees("waits: and the docs")
  terminal.type(`not this${enter}`)
  await terminal.sees("waits: and the docs\nwaits: not this (alt+up takes it back)\n")
  terminal.type("\u001b[1;3A")
  await terminal.sees(/^> not this/m)
  terminal.type("\u0015")
  tmp.write("go", "")
  await terminal.sees("Done with both.")
  const last = JSON.stringify(llm.requests.at(-1)!.body)
  assert.match(last, /also the tests/)
  assert.match(last, /and the docs/)
  assert.doesNotMatch(last, /not this/)
})

test("Escape stops the turn, and the session goes on with the next prompt", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" }), text("Here again.")])
  await using terminal = await openXterm(tmp, ["--yes", "wait"], { env: env(llm, "chat").variables })
  await terminal.sees(/Run sleep 600/)
  terminal.type(esc)
  await terminal.sees(/^yes to all · /m)
  terminal.type(`still there?${enter}`)
  await terminal.sees("Here again.")
})

test("a shell line is refused while the agent works, and Escape still stops the turn", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
  await using terminal = await openXterm(tmp, ["--yes", "wait"], { env: env(llm, "chat").variables })
  await terminal.sees(/● Run sleep 600/)
  terminal.type(`!date${enter}`)
  await terminal.sees(/A turn runs\./)
  await terminal.sees(/esc stops/)
  terminal.type(esc)
  await terminal.sees("· stopped")
})

test("Escape gives prompts that wait back to the editor, beside what was begun there", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" }), text("Got it.")])
  await using terminal = await openXterm(tmp, ["--yes", "wait"], { env: env(llm, "chat").variables })
  await terminal.sees(/● Run sleep 600/)
  terminal.type(`taken back${enter}`)
  await terminal.sees("waits: taken back")
  terminal.type("\u001b[1;3A")
  await terminal.sees(/^> taken back/m)
  terminal.type("\u0015")
  terminal.type(`one${enter}`)
  await terminal.sees("waits: one")
  terminal.type(`two${enter}`)
  await terminal.sees("waits: two")
  terminal.type("begun")
  await terminal.sees("> begun")
  terminal.type(esc)
  await terminal.sees(/^> begun\n {2}one\n {2}two\nyes to all/m)
  assert.doesNotMatch(terminal.screen(), /waits:/)
  terminal.type(enter)
  await terminal.sees("Got it.")
  assert.equal(terminal.all().match(/· stopped/g)?.length, 1)
})

for (const signal of ["SIGTERM", "SIGHUP"] as const)
  test(`${signal} gives the terminal back as it was`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([])
    await using terminal = await openXterm(tmp, [], {
      env: env(llm, "chat").variables,
      before: "stty -g > before",
      after: "stty -g > after",
    })
    await terminal.sees(isReady)
    const [pid] = execFileSync("pgrep", ["-f", `^${process.execPath} .*dist/vitamin.js$`])
      .toString()
      .split("\n")
      .filter(isBelow)
    process.kill(Number(pid), signal)
    await terminal.exit
    assert.equal(read(tmp, "after"), read(tmp, "before"))
    assert.match(terminal.bytes().slice(-200), /\u001b\[\?2004l/)

    function isBelow(pid: string): boolean {
      try {
        return pid !== "" && readFileSync(`/proc/${pid}/environ`, "utf8").includes(tmp.path)
      } catch {
        // A process of another test that has ended meanwhile.
        return false
      }
    }
  })

test("a shell line shows its output and gives it to the model; files complete; Shift-Tab accepts edits", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("notes.txt", "hello\n")
  const edit = call("edit", { path: "notes.txt", edits: [{ oldText: "hello", newText: "goodbye" }] })
  await using llm = await fakeLlm([edit, text("Edited.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type(`!seq 1 40${enter}`)
  await terminal.sees(/▌ ! seq 1 40\n {2}1\n {2}2\n {2}… 35 more lines \(ctrl\+o\)\n {2}38\n {2}39\n {2}40\n/)
  terminal.type("\u000f")
  await terminal.sees(/^ {2}17$/m)
  terminal.type("\u001b[Z")
  await terminal.sees(/^accept edits · /m)
  terminal.type("change @no")
  await terminal.sees("› notes.txt")
  terminal.type("\t")
  await terminal.sees("> change @notes.txt")
  terminal.type(enter)
  await terminal.sees("Edited.")
  assert.equal(read(tmp, "notes.txt"), "goodbye\n")
  assert.match(JSON.stringify(llm.requests[0]!.body), /seq 1 40.*40/)
})

test("all edits allowed in a question show as the preset; a change that fits has no key for the whole of it", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "one\n")
  const edit = (oldText: string, newText: string) =>
    call("edit", { path: "a.txt", edits: [{ oldText, newText }] })
  await using llm = await fakeLlm([edit("one", "two"), edit("two", "three"), text("Both made.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees(/\[y\]es.*all \[e\]dits/)
  assert.doesNotMatch(terminal.screen(), /\[d\]iff/)
  terminal.type("e")
  await terminal.sees("Both made.")
  await terminal.sees(/^accept edits · /m)
  assert.equal(read(tmp, "a.txt"), "three\n")
})

test("a line of code that is wider than the terminal is printed once, however slowly it comes", async () => {
  await using tmp = await tmpdir({ git: true })
  const wide = `const list = [${Array.from({ length: 60 }, (_, i) => i + 100).join(", ")}]`
  const answer = `Before.\n\n\`\`\`\n${wide}\n\`\`\`\n\nAfter.`
  await using llm = await fakeLlm([text(answer, { deltas: 40, delay: 40 })])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables, columns: 80 })
  await terminal.sees("After.")
  await terminal.sees(isReady)
  const all = terminal.all().replaceAll("\n", "")
  assert.equal(all.split("const list").length, 2, terminal.all())
  assert.ok(all.includes(wide), terminal.all())
})

test("a session that accepts edits says so when it is opened again; Shift-Tab to ask takes it back", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("a.txt", "one\n")
  const edit = (oldText: string, newText: string) =>
    call("edit", { path: "a.txt", edits: [{ oldText, newText }] })
  await using llm = await fakeLlm([edit("one", "two"), text("Made."), edit("two", "three"), text("Asked.")])
  const { variables } = env(llm, "chat")
  {
    await using terminal = await openXterm(tmp, ["go"], { env: variables })
    await terminal.sees(/all \[e\]dits/)
    terminal.type("e")
    await terminal.sees("Made.")
    await terminal.sees(/^accept edits · /m)
    terminal.type("\u0004")
    assert.equal(await terminal.exit, 0)
  }
  await using terminal = await openXterm(tmp, ["-c"], { env: variables })
  await terminal.sees(/^accept edits · /m)
  terminal.type("\u001b[Z")
  await terminal.sees(/^plan · /m)
  terminal.type("\u001b[Z")
  await terminal.sees(isReady)
  terminal.type(`again${enter}`)
  await terminal.sees(/^Edit a\.txt\?$/m)
})

test("a prompt that failed for an unknown agent works after /agent", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Here.")])
  await using terminal = await openXterm(tmp, ["--agent", "nobody"], { env: env(llm, "chat").variables })
  await terminal.sees(isReady)
  terminal.type(`hello${enter}`)
  await terminal.sees(/✗ .*nobody/)
  terminal.type("\u0015")
  terminal.type(`/agent build${enter}`)
  await terminal.sees(/ · build · /)
  terminal.type(`hello again${enter}`)
  await terminal.sees("Here.")
})

test("on 20 columns the status line says what happens, in one row", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.", { deltas: 8, delay: 300 })])
  await using terminal = await openXterm(tmp, ["--yes", "go"], {
    env: env(llm, "chat").variables,
    columns: 20,
    rows: 12,
  })
  await terminal.sees(/^> *\n. working \d+ s$/m)
  await terminal.sees(/Done\./)
  await terminal.sees(/^> *\nyes to all$/m)
  for (const [columns, expected] of [
    [40, /^> *\nyes to all · openai\/fake-model$/m],
    [70, /^> *\nyes to all · openai\/fake-model · [^·]*\((?:main|master)\)$/m],
    [110, /^> *\nyes to all · openai\/fake-model · \d+% of context · build · [^·]*\((?:main|master)\)$/m],
  ] as const) {
    terminal.resize({ columns })
    await terminal.sees(expected)
  }
})
