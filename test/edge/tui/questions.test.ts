// Questions in the interactive terminal: forms of real MCP servers, rules that a person writes, several questions at once,
// answers from elsewhere, keys of somebody who was just typing, and a terminal that is almost too small.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { apiOf } from "../../fixture/api-of.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const tab = "\t"
const down = "\u001b[B"
const right = "\u001b[C"
const ctrlD = "\u0004"
const ctrlU = "\u0015"
const esc = "\u001b"

/** Milliseconds: a key after it is an answer, not a key that was meant for the question before. */
const pause = 1_000

const bash = (command: string) => call("bash", { command })
const has = (tmp: Tmp, name: string) => existsSync(join(tmp.path, name))

async function withEverything(): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  assert.equal((await vitamin(tmp, ["mcp", "test", "everything"])).code, 0)
  return tmp
}

test("a form of a server is filled in field by field, a wrong field is named, and an address is only shown", async () => {
  await using tmp = await withEverything()
  const form = call("everything_trigger-elicitation-request", {})
  const visit = call("everything_trigger-url-elicitation", {
    url: "https://exämple.test/go?x=1",
    message: "Look\u001b[2J here",
  })
  await using llm = await fakeLlm([form, form, form, visit, text("Thanks.")])
  const rule = "mcp.call:everything/*"
  await using terminal = await openXterm(tmp, ["--allow", rule, "go"], {
    env: env(llm, "chat").variables,
    rows: 40,
  })
  await terminal.sees(/The MCP server everything asks:\n {2}Please provide inputs/)
  await terminal.sees(/› name \(required\).*full, legal name/)
  await terminal.sees("integer: 42")
  terminal.type(enter)
  await terminal.sees("✗ name: it is required")
  terminal.type(`Ada${tab}`)
  await terminal.sees(/› check.*\n {4}\( \) yes {2}\( \) no/)
  terminal.type("y")
  await terminal.sees("(•) yes")
  // From here to the number: first line, email, home page, date of birth.
  terminal.type(down.repeat(2))
  await terminal.sees(/› email \(email\)/)
  terminal.type(`nobody${enter}`)
  await terminal.sees("✗ email: it is not of the form email")
  terminal.type(`@example.org${down.repeat(3)}`)
  await terminal.sees(/› integer \(integer; at least 1, at most 100\)/)
  terminal.type(`${ctrlU}101${enter}`)
  await terminal.sees("✗ integer: at most 100")
  terminal.type(`${ctrlU}13${down.repeat(2)}`)
  await terminal.sees(/› untitledSingleSelectEnum.*\n {4}\(•\) Monica/)
  terminal.type(`${right}${down}`)
  await terminal.sees(/untitledSingleSelectEnum: Rachel/)
  await terminal.sees(/› untitledMultipleSelectEnum/)
  terminal.type(`${right} `)
  await terminal.sees("[x] ")
  terminal.type(enter)

  await until(() => llm.requests.length === 2, "the form is sent")
  const sent = JSON.stringify(llm.requests[1]!.body)
  assert.match(sent, /Ada/)
  assert.match(sent, /nobody@example\.org/)
  assert.match(sent, /13/)
  assert.match(sent, /Rachel/)

  await terminal.sees(/› name \(required\)/)
  await sleep(pause)
  terminal.type(ctrlD)
  await until(() => llm.requests.length === 3, "the second form is declined")
  assert.match(JSON.stringify(llm.requests[2]!.body), /declined/)
  await terminal.sees(/User declined to provide.*› name \(required\)/s)
  await sleep(pause)
  terminal.type(esc)
  await terminal.sees(/https:\/\/xn--exmple-cua\.test\/go\?x=1/)
  assert.match(JSON.stringify(llm.requests[3]!.body), /cancel/)
  assert.match(terminal.screen(), /Look\\u\{1b\}\[2J here/)
  assert.match(terminal.screen(), /Open it yourself if you trust it/)
  await sleep(pause)
  terminal.type("a")
  await terminal.sees("Thanks.")
})

test("a question is a sentence, and what always would allow is said in words while the rule is changed", async () => {
  await using tmp = await withEverything()
  const write = call("write", { path: "notes.txt", content: "one\n" })
  const echo = call("everything_echo", { message: "hello" })
  const fetched = call("fetch", { url: "https://example.test/a" })
  await using llm = await fakeLlm([bash("touch one"), write, echo, fetched, text("Answered.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees(/^Run this command\?\n {2}touch one\n/m)
  terminal.type("a")
  await terminal.sees(/^allows exactly the command touch one\nalways allow .*bash\.execute:touch one/m)
  terminal.type(`${ctrlU}bash.execute:touch *`)
  await terminal.sees(/^allows every command that begins with "touch "\n/m)
  terminal.type(enter)
  await terminal.sees(/^Write notes\.txt\?\n1 \+ one\n/m)
  await sleep(pause)
  terminal.type("a")
  await terminal.sees(/^allows writing notes\.txt\n/m)
  terminal.type(`${ctrlU}file.write:docs/**`)
  await terminal.sees(/^allows writing every file in docs and the folders below it\n/m)
  terminal.type(`${esc}`)
  await terminal.misses(/^allows /m)
  terminal.type("n")
  await terminal.sees(/^Call the tool echo of the MCP server everything\?\n/m)
  await sleep(pause)
  terminal.type("a")
  await terminal.sees(/^allows calling the tool echo of the MCP server everything\n/m)
  terminal.type(enter)
  await terminal.sees(/^Fetch https:\/\/example\.test\/a\?\n/m)
  await sleep(pause)
  terminal.type("n")
  await terminal.sees("Answered.")
})

test("the rule of always can be changed, is checked, and is kept", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([bash("touch one"), bash("touch two"), text("Both are there.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees(/Run this command\?\n {2}touch one/)
  terminal.type("a")
  await terminal.sees("always allow (enter accepts, change it first): bash.execute:touch one")
  terminal.type(`${ctrlU}bash.execute:rm *${enter}`)
  await terminal.sees("the rules do not allow what was asked for")
  terminal.type(`${ctrlU}file.write:**${enter}`)
  await terminal.sees(/is not about what was asked for:\s+bash\.execute/)
  assert.equal(has(tmp, "one"), false)
  terminal.type(`${ctrlU}bash.execute:touch *${enter}`)
  await terminal.sees("Both are there.")
  assert.ok(has(tmp, "one") && has(tmp, "two"))
  assert.match((await vitamin(tmp, ["permission", "list"])).out, /bash\.execute:touch \*/)
})

test("questions queue up, and one that is answered elsewhere goes away", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    calls([bash("touch one"), bash("touch two"), bash("touch three")]),
    text("All answered."),
  ])
  const served = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = served.child
  const api = apiOf(served)
  await using terminal = await openXterm(tmp, ["attach", served.url])
  await terminal.sees(/^ask · /m)
  terminal.type(`go${enter}`)
  await terminal.sees(/Run this command\? {2}2 more questions wait\n {2}touch one/)
  const { body } = await api("GET", "/permission/pending")
  const idOf = (target: string) =>
    body.find(({ needs }: { needs: { target: string }[] }) => needs[0]!.target === target).id
  await api("POST", `/permission/${idOf("touch two")}/respond`, { reply: "once" })
  await terminal.sees(/Run this command\? {2}1 more question waits/)
  await api("POST", `/permission/${idOf("touch one")}/respond`, { reply: "reject" })
  await terminal.sees(/Run this command\?\n {2}touch three/)
  terminal.type("n")
  await terminal.sees("All answered.")
  assert.deepEqual(
    ["one", "two", "three"].map((name) => has(tmp, name)),
    [false, true, false],
  )
})

test("keys of somebody who is writing do not answer a question that comes up", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([bash("touch one"), text("Answered.")])
  await using terminal = await openXterm(tmp, [], { env: env(llm, "chat").variables })
  await terminal.sees(/^ask · /m)
  terminal.type(`go${enter}`)
  await until(() => {
    terminal.type("y")
    return terminal.screen().includes("Run this command?") || llm.requests.length > 1
  }, "the question comes")
  terminal.type("yes, yes")
  await sleep(1_500)
  await terminal.sees("Run this command?")
  assert.equal(has(tmp, "one"), false)
  terminal.type("y")
  await terminal.sees("Answered.")
  assert.ok(has(tmp, "one"))
})

test("who sends one line after the other to a running turn does not answer its question", async () => {
  await using tmp = await tmpdir({ git: true })
  const wait = bash("until [ -e go ]; do sleep 0.05; done")
  await using llm = await fakeLlm([wait, bash("touch one"), text("Answered.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees("Run this command?")
  terminal.type("y")
  await terminal.sees("● Run until")
  tmp.write("go", "")
  await until(() => {
    terminal.type(`y${enter}`)
    return terminal.screen().includes("Run this command?") || llm.requests.length > 2
  }, "the question comes")
  terminal.type("y")
  await sleep(1_500)
  await terminal.sees("Run this command?")
  assert.equal(has(tmp, "one"), false)
  terminal.type("y")
  await terminal.sees("Answered.")
  assert.ok(has(tmp, "one"))
})

test("a key that is pressed again and again answers one question", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([calls([bash("touch one"), bash("touch two")]), text("Answered.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables })
  await terminal.sees(/Run this command\? {2}1 more question waits/)
  await until(() => {
    terminal.type("y")
    return /this command\?\n.*touch two/.test(terminal.screen()) || has(tmp, "two")
  }, "the second question comes")
  terminal.type("y")
  await sleep(pause)
  assert.match(terminal.screen(), /Run this command\?/)
  assert.equal(has(tmp, "two"), false)
  terminal.type("n")
  await terminal.sees("Answered.")
  assert.deepEqual([has(tmp, "one"), has(tmp, "two")], [true, false])
})

test("a command that does not fit is shown as a whole with a key", async () => {
  await using tmp = await tmpdir({ git: true })
  const command = Array.from({ length: 40 }, (_, i) => `echo line ${i}`).join("\n")
  await using llm = await fakeLlm([bash(`${command}\ntouch one # \u001b[2J`), text("Answered.")])
  await using terminal = await openXterm(tmp, ["go"], { env: env(llm, "chat").variables, rows: 15 })
  await terminal.sees(/run echo line 0.*\n… 41 more lines \(d shows all\)\n.*all \[d\]etails/s)
  assert.doesNotMatch(terminal.all(), /touch one/)
  terminal.type("d")
  await terminal.sees(/touch one # \\u001b\[2J/)
  for (let i = 0; i < 40; i++) assert.match(terminal.all(), new RegExp(`^ .*echo line ${i}$`, "m"))
  assert.equal(has(tmp, "one"), false)
  terminal.type("n")
  await terminal.sees("Answered.")
  await terminal.sees(/^ask · /m)
})

test("on a terminal of 20 × 5 the choices of a question stay in sight", async () => {
  await using tmp = await withEverything()
  const form = call("everything_trigger-elicitation-request", {})
  await using llm = await fakeLlm([bash("touch one"), form, text("Small.")])
  await using terminal = await openXterm(tmp, ["--allow", "mcp.call:everything/*", "go"], {
    env: env(llm, "chat").variables,
    columns: 20,
    rows: 5,
  })
  await terminal.sees(/Run this command\?\n {2}touch one\n.*y\/a\/s\/n\/t/s)
  terminal.type("y")
  await terminal.sees(/name \(required\).*\n.*enter sends/s)
  assert.ok(has(tmp, "one"))
  await sleep(pause)
  terminal.type(`Ada${enter}`)
  await terminal.sees("Small.")
})
