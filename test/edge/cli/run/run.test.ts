// `vitamin run` as a process against a loopback model, in all four wire forms.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { running, uniqueNap } from "../../../ability/shell/running.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { call, cut, env, fakeLlm, stall, status, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const wires = ["chat", "responses", "messages", "gemini"] as const

for (const wire of wires)
  test(`vitamin run streams an answer, with a tool call on the way, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("read", { path: "README.md" }), text("It is a fixture.")])
    const { variables } = env(llm, wire)
    const { code, out, err } = await vitamin(tmp, ["run", "What is this?"], variables)
    assert.equal(code, 0, err)
    assert.equal(out, "It is a fixture.")
    assert.match(err, /^· Read README\.md:1-1$/m)
    assert.equal(llm.requests.length, 2)
    assert.match(JSON.stringify(llm.requests[1]!.body), /# fixture/)
  })

for (const wire of wires)
  test(`vitamin run understands a server that does not stream, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([
      call("read", { path: "README.md" }, { whole: true }),
      text("It is a fixture.", { whole: true }),
    ])
    const { code, out, err } = await vitamin(tmp, ["run", "What is this?"], env(llm, wire).variables)
    assert.deepEqual([code, out], [0, "It is a fixture."], err)
    assert.match(err, /^· Read README\.md:1-1$/m)
    assert.equal(llm.requests.length, 2)
  })

for (const wire of wires)
  test(`vitamin run --format json prints one event per line and nothing else on stdout, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("read", { path: "README.md" }), text("Done.")])
    const { code, out, err } = await vitamin(tmp, ["run", "--format", "json", "go"], env(llm, wire).variables)
    assert.equal(code, 0, err)
    const events = out.split("\n").map((line) => JSON.parse(line))
    const types = events.map((event) => event.type)
    for (const type of ["message.created", "message.delta", "session.idle"])
      assert.ok(types.includes(type), type)
    const created = events
      .filter((event) => event.type === "message.created")
      .map((event) => event.payload.message.type)
    assert.deepEqual(created, ["text", "tool_request", "tool_result", "text"])
    assert.equal(err, "")
  })

test("vitamin run reads piped text, with a message and without one", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("one"), text("two")])
  const { variables } = env(llm, "chat")
  for (const args of [["run", "Look at this:"], ["run"]]) {
    await using child = startVitamin(tmp, args, variables)
    child.process.stdin!.end("piped words\n")
    assert.equal(await child.exit, 0, child.errors())
  }
  assert.match(JSON.stringify(llm.requests[0]!.body), /Look at this:\\n\\npiped words/)
  assert.match(JSON.stringify(llm.requests[1]!.body), /piped words/)
})

test("vitamin run ignores a pipe that stays silent", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("fine")])
  await using child = startVitamin(tmp, ["run", "hello"], env(llm, "chat").variables)
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(child.lines, ["fine"])
})

test("vitamin run --continue and --session continue the conversation", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("first"), text("second"), text("third")])
  const { variables } = env(llm, "chat")
  assert.equal((await vitamin(tmp, ["run", "one"], variables)).code, 0)
  assert.equal((await vitamin(tmp, ["run", "--continue", "two"], variables)).code, 0)
  const listed = (await vitamin(tmp, ["session", "list"])).out.split("\n")
  assert.equal(listed.length, 1)
  const [id] = listed[0]!.split(" ")
  assert.match(listed[0]!, /^sess_\w{8} +20\d\d-\d\d-\d\d \d\d:\d\d +idle +openai\/fake-model +\. +- +one$/)
  assert.equal((await vitamin(tmp, ["run", "--session", id!, "three"], variables)).out, "third")
  const sent = JSON.stringify(llm.requests[2]!.body)
  for (const said of ["one", "first", "two", "second", "three"]) assert.match(sent, new RegExp(`"${said}"`))
  const shown = (await vitamin(tmp, ["session", "show", id!])).out
  assert.match(shown, /\[user\] one[\s\S]*\[assistant\] first[\s\S]*\[user\] three[\s\S]*\[assistant\] third/)
})

test("vitamin run reports that an answer broke off, and prints the whole retried answer", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([
    cut(text("this answer is cut off in its middle", { deltas: 20 }), 1_500),
    text("whole"),
  ])
  const { code, out, err } = await vitamin(tmp, ["run", "x"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(out, /whole$/)
  assert.match(err, /✗ the answer broke off and is requested again/)
})

test("vitamin run fails with one clear line when the provider refuses for good", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([status(401)])
  const { code, out, err } = await vitamin(tmp, ["run", "x"], env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.equal(out, "")
  assert.match(err, /^vitamin: [^\n]+\n$/)
})

for (const [args, says] of [
  [["--model", "nonsense", "x"], /not of the form provider\/model/],
  [["--model", "opnai/gpt-5", "x"], /opnai.*openai/],
  [["--model", "anthropic/claude-sonet-4-5", "x"], /claude-sonnet-4-5/],
  [["--model", "anthropic/claude-sonnet-4-5", "x"], /ANTHROPIC_API_KEY/],
  [["--session", "sess_none", "x"], /sess_none does not exist/],
] as const)
  test(`vitamin run ${args.join(" ")} says what is wrong`, async () => {
    await using tmp = await tmpdir()
    const { code, err } = await vitamin(tmp, ["run", ...args], { ANTHROPIC_API_KEY: "" })
    assert.equal(code, 1, err)
    assert.match(err, says)
    assert.match(err, /^vitamin: [^\n]+\n$/)
  })

for (const args of [
  ["--agent", "x"],
  ["--model", "anthropic/claude-sonnet-4-5"],
  ["--model", "openai/no-such-model"],
])
  test(`vitamin run ${args.join(" ")} without a key or a model leaves no session`, async () => {
    await using tmp = await tmpdir({ git: true })
    const agent = "---\ndescription: x\nmodel: anthropic/claude-sonnet-4-5\n---\nYou are x.\n"
    tmp.write(".vitamin/agents/x.md", agent)
    const { code, err } = await vitamin(tmp, ["run", ...args, "hi"])
    assert.equal(code, 1, err)
    assert.match(err, /needs a key\. Set ANTHROPIC_API_KEY|no-such-model/)
    assert.equal((await vitamin(tmp, ["session", "list"])).out, "No session in this project yet.")
  })

test("vitamin session list and show name the model that answered, also when nobody named one", async () => {
  await using tmp = await tmpdir({ git: true })
  assert.equal((await vitamin(tmp, ["run", "what can you do?"])).code, 0)
  assert.match((await vitamin(tmp, ["session", "list"])).out, / idle +local\/rules /)
  assert.match((await vitamin(tmp, ["session", "show"])).out, /^idle, local\/rules, /m)
  await using llm = await fakeLlm([text("hello")])
  const { variables } = env(llm, "chat")
  await vitamin(tmp, ["run", "--continue", "hi"], variables)
  assert.match((await vitamin(tmp, ["session", "list"])).out, / idle +openai\/fake-model /)
})

test("SIGINT interrupts vitamin run with exit code 130, and the session can continue", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    stall(text("half an answer that never comes to its end"), 400),
    text("whole"),
  ])
  const { variables } = env(llm, "chat")
  await using child = startVitamin(tmp, ["run", "x"], variables)
  await until(() => llm.requests.length > 0, "a request")
  await sleep(300)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130, child.errors())
  assert.match(child.errors(), /^vitamin: interrupted; continue: vitamin run --session sess_\w{10} "…"$/m)
  assert.match((await vitamin(tmp, ["session", "list"])).out, / interrupted /)
  assert.equal((await vitamin(tmp, ["run", "--continue", "again"], variables)).out, "whole")
})

test("a signal during the shutdown of vitamin run leaves no background job running", async () => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  tmp.write("job.sh", `trap 'touch told' TERM; setsid sleep ${nap} & while :; do sleep 0.05; done`)
  const command = "bash job.sh"
  await using llm = await fakeLlm([call("bash", { command, background: true }), text("started")])
  await using child = startVitamin(tmp, ["run", "--yes", "x"], env(llm, "chat").variables)
  await until(() => existsSync(join(tmp.path, "told")), "the job is told to end")
  child.process.kill("SIGTERM")
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(child.lines, ["started"])
  assert.deepEqual(running(nap), [])
})

test("vitamin run --timeout ends a run whose model sends nothing", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([stall(text("never"), 0)])
  const { code, err } = await vitamin(tmp, ["run", "--timeout", "1", "x"], env(llm, "chat").variables)
  assert.equal(code, 1)
  assert.match(err, /its time was up/)
})

test("vitamin session fork, export, import and remove", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("answer")])
  await vitamin(tmp, ["run", "question"], env(llm, "chat").variables)
  const sessions = async () =>
    JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out) as { id: string }[]
  const [{ id }] = (await sessions()) as [{ id: string }]
  const forked = (await vitamin(tmp, ["session", "fork", id])).out
  assert.match(forked, /^sess_/)
  const exported = await vitamin(tmp, ["session", "export", id])
  const file = tmp.write("session.json", exported.out)
  assert.match(
    (await vitamin(tmp, ["session", "export", id, "--format", "markdown"])).out,
    /## user\n\nquestion/,
  )
  assert.equal((await vitamin(tmp, ["session", "remove", id])).out, `Removed: ${id}`)
  assert.equal((await vitamin(tmp, ["session", "import", file])).out, id)
  assert.equal((await sessions()).length, 2)
  assert.equal((await vitamin(tmp, ["session", "show", "sess_none"])).code, 1)
})

test("vitamin models lists models with context and price, also of one provider", async () => {
  await using tmp = await tmpdir()
  const { code, out } = await vitamin(tmp, ["models", "anthropic"])
  assert.equal(code, 0)
  assert.match(out, /^anthropic\/claude-sonnet-4-5\S* +\d{6,} +\$\d/m)
  assert.doesNotMatch(out, /^openai\//m)
  const unknown = await vitamin(tmp, ["models", "nope"])
  assert.deepEqual([unknown.out, /Provider "nope" does not exist/.test(unknown.err)], ["", true], unknown.err)
})

test("vitamin tool list shows the built-in tools", async () => {
  await using tmp = await tmpdir()
  const { out } = await vitamin(tmp, ["tool", "list"])
  for (const tool of ["read", "glob", "grep", "ls"]) assert.match(out, new RegExp(`^${tool} +\\w+ +\\S`, "m"))
})

test("vitamin auth login stores a piped key that is used and never shown, and logout removes it", async () => {
  await using tmp = await tmpdir()
  const canary = "sk-canary-1234567890"
  await using child = startVitamin(tmp, ["auth", "login", "mistral"])
  child.process.stdin!.end(`${canary}\n`)
  assert.equal(await child.exit, 0, child.errors())
  const listed = await vitamin(tmp, ["auth", "list"], { MISTRAL_API_KEY: "" })
  assert.match(listed.out, /^mistral +login$/m)
  assert.doesNotMatch(child.lines.join() + listed.out + listed.err, /canary/)
  await vitamin(tmp, ["auth", "logout", "mistral"])
  assert.doesNotMatch((await vitamin(tmp, ["auth", "list"], { MISTRAL_API_KEY: "" })).out, /mistral/)
})

test("vitamin run allows polling a command, and stops a loop of calls", async () => {
  await using tmp = await tmpdir({ git: true })
  const poll = call("bash", {
    command: "sleep 2; echo . >> n; [ $(wc -l < n) -gt 6 ] && echo ready || echo pending",
  })
  await using llm = await fakeLlm([...Array.from({ length: 7 }, () => poll), text("It is ready.")])
  const polled = await vitamin(tmp, ["run", "--yes", "wait"], env(llm, "chat").variables)
  assert.deepEqual([polled.code, polled.out], [0, "It is ready."], polled.err)
  const results = llm.requests
    .at(-1)!
    .messages.flatMap(({ results }) => results.map(({ text }) => text.trim()))
  assert.deepEqual([results.slice(0, 6), results[6]], [Array(6).fill("pending"), "ready"])
  await using failing = await fakeLlm(() => call("bash", { command: "sleep 0.3; echo failed; exit 1" }))
  const failed = await vitamin(tmp, ["run", "--yes", "test"], env(failing, "chat").variables)
  assert.deepEqual([failed.code, failing.requests.length], [1, 3], failed.err)
  await using circle = await fakeLlm(() => call("read", { path: "README.md" }))
  const stopped = await vitamin(tmp, ["run", "--yes", "wait"], env(circle, "chat").variables)
  assert.deepEqual([stopped.code, circle.requests.length], [1, 3])
  assert.match(stopped.err, /the same call to "read" 3 times with the same result and was stopped/)
})
