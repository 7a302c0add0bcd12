// The library as an embedding program uses it: a process of its own that imports `dist`.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, officialServer } from "./ability/mcp/servers.ts"
import { run } from "./fixture/child.ts"
import { vitamin } from "./fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "./fixture/fake-llm.ts"
import { noServers } from "./fixture/no-servers.ts"
import { type Tmp, tmpdir } from "./fixture/tmpdir.ts"

const library = JSON.stringify(new URL("../dist/index.js", import.meta.url).href)

/** Runs `code` as a program that has everything the package exports. */
async function embed(tmp: Tmp, llm: FakeLlm, code: string): Promise<string> {
  tmp.write(
    "program.mjs",
    `import * as vitamin from ${library}
     const { bootstrap, Bus, Global, GlobalBus, Message, Permission, Session } = vitamin
     ${code}`,
  )
  await using child = run(process.execPath, ["program.mjs"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
  })
  assert.equal(await child.exit, 0, child.errors())
  return child.lines.join("\n")
}

/** Runs `body` in an instance, with a session. */
function inSession(tmp: Tmp, llm: FakeLlm, body: string): Promise<string> {
  return embed(
    tmp,
    llm,
    `await bootstrap(process.cwd(), async () => {
       const { id: sessionId } = await Session.create()
       ${body}
     })`,
  )
}

test("Session.prompt() denies at once what must be asked when nothing listens for questions", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Could not.")])
  const stdout = await inSession(
    tmp,
    llm,
    `Bus.subscribe("*", () => {})
     console.log(Message.textOf(await Session.prompt({ sessionId, text: "make a file" })))
     const [result] = (await Session.messages(sessionId)).filter(({ type }) => type === "tool_result")
     console.log(result.data.error.message)`,
  )
  const [answer, message] = stdout.split("\n")
  assert.equal(answer, "Could not.")
  assert.equal(
    message,
    '"bash" was not run: bash.execute of "touch made" needs a person\'s permission, and nothing listens for questions. ' +
      'Session.prompt({ rules: [{"permission":"bash.execute","pattern":"touch made","action":"allow"}] }) or ' +
      'Session.prompt({ asks: "once" }) would allow it; ' +
      "Bus.subscribe(Permission.Requested, …) with Permission.reply(id, …) answers questions.",
  )
  assert.equal(existsSync(join(tmp.path, "made")), false)
})

test("Session.prompt() waits for a program that subscribed to Permission.Requested", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Done.")])
  const stdout = await inSession(
    tmp,
    llm,
    `Bus.subscribe(Permission.Requested, ({ id, title }) => {
       console.log(title)
       setTimeout(() => Permission.reply(id, "once"), 20)
     })
     console.log(Message.textOf(await Session.prompt({ sessionId, text: "make a file" })))`,
  )
  assert.equal(stdout, 'Allow bash: bash.execute of "touch made"?\nDone.')
  assert.ok(existsSync(join(tmp.path, "made")))
})

const thrown = {
  "throws at once": `() => { throw new Error("on purpose") }`,
  "throws later": `async () => { await null; throw new Error("on purpose") }`,
}
for (const [name, listener] of Object.entries(thrown))
  test(`Session.prompt() denies at once when the only listener ${name}`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Could not.")])
    const stdout = await inSession(
      tmp,
      llm,
      `Bus.subscribe(Permission.Replied, ({ reply, by }) => console.log(reply, by))
       Bus.subscribe(Permission.Denied, ({ by }) => console.log(by))
       Bus.subscribe(Permission.Requested, ${listener})
       console.log(Message.textOf(await Session.prompt({ sessionId, text: "make a file" })))
       const messages = await Session.messages(sessionId)
       console.log(messages.find(({ type }) => type === "tool_request").data.calls[0].approval)
       console.log(messages.find(({ type }) => type === "tool_result").data.error.message)`,
    )
    const lines = stdout.split("\n")
    assert.deepEqual(lines.slice(0, -1), ["reject nobody", "nobody", "Could not.", "denied"])
    assert.match(lines.at(-1)!, /and every listener for questions failed \(see the log\)\. Session\.prompt/)
    assert.equal(existsSync(join(tmp.path, "made")), false)
  })

test("Session.prompt() waits for the listener that does not throw", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Done.")])
  await inSession(
    tmp,
    llm,
    `Bus.subscribe(Permission.Requested, ${thrown["throws at once"]})
     Bus.subscribe(Permission.Requested, ({ id }) => setTimeout(() => Permission.reply(id, "once"), 20))
     await Session.prompt({ sessionId, text: "make a file" })`,
  )
  assert.ok(existsSync(join(tmp.path, "made")))
})

test("Session.prompt() takes the answer of a listener that throws after it", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Done.")])
  await inSession(
    tmp,
    llm,
    `Bus.subscribe(Permission.Requested, ({ id }) => {
       Permission.reply(id, "once")
       throw new Error("on purpose")
     })
     await Session.prompt({ sessionId, text: "make a file" })`,
  )
  assert.ok(existsSync(join(tmp.path, "made")))
})

const elicitations = {
  "nothing listens for them": "",
  "their only listener throws": `Bus.subscribe(Elicitation.Requested, () => { throw new Error("on purpose") })`,
}
for (const [name, subscribe] of Object.entries(elicitations))
  test(`Session.prompt() declines questions of MCP servers at once when ${name}`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([call("everything_trigger-elicitation-request", {}), text("Done.")])
    tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
    assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
    const stdout = await inSession(
      tmp,
      llm,
      `const { Elicitation } = vitamin
       Bus.subscribe(Permission.Requested, ({ id }) => Permission.reply(id, "once"))
       ${subscribe}
       console.log(Message.textOf(await Session.prompt({ sessionId, text: "trigger an elicitation request" })))`,
    )
    assert.equal(stdout, "Done.")
    assert.match(JSON.stringify(llm.requests.at(-1)!.body), /User declined/)
  })

for (const [name, options] of [
  ["rules", '{ rules: [{ permission: "bash.execute", pattern: "touch made", action: "allow" }] }'],
  ["asks", '{ asks: "once" }'],
] as const)
  test(`Session.prompt() runs what ${name} allow, without a listener`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Done.")])
    await inSession(tmp, llm, `await Session.prompt({ sessionId, text: "make a file", ...${options} })`)
    assert.ok(existsSync(join(tmp.path, "made")))
  })

test("bootstrap() makes the snapshot store with the first change, not at the start", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("read", { path: "README.md" }),
    text("Read."),
    call("write", { path: "made.txt", content: "x" }),
    text("Done."),
  ])
  tmp.write("README.md", "# Hi\n")
  const stdout = await inSession(
    tmp,
    llm,
    `const { existsSync } = await import("node:fs")
     const folder = Global.data() + "/snapshot"
     console.log(existsSync(folder))
     await Session.prompt({ sessionId, text: "read it" })
     console.log(existsSync(folder))
     await Session.prompt({ sessionId, text: "make it", asks: "once" })
     console.log(existsSync(folder))`,
  )
  assert.equal(stdout, "false\nfalse\ntrue")
})

test("bootstrap() ends the instance when the callback throws, and what was changed can be undone", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "new" }), text("Done.")])
  tmp.write("a.txt", "old")
  const stdout = await embed(
    tmp,
    llm,
    `const { readFileSync } = await import("node:fs")
     GlobalBus.subscribe(({ type }) => type === "instance.disposed" && console.log(type))
     let sessionId
     const failed = bootstrap(process.cwd(), async () => {
       sessionId = (await Session.create()).id
       await Session.prompt({ sessionId, text: "write it", asks: "once" })
       throw new Error("on purpose")
     })
     console.log(await failed.catch((error) => error.message))
     console.log(readFileSync("a.txt", "utf8"))
     await bootstrap(process.cwd(), async () => {
       const [first] = await Session.messages(sessionId)
       await Session.revert(sessionId, first.id)
     })`,
  )
  assert.equal(stdout, "instance.disposed\non purpose\nnew\ninstance.disposed")
  assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "old")
})

test("Session.diff() leaves a session alone that works, and recovers one whose process died in an edit", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("edit", { path: "README.md", edits: [{ oldText: "fixture", newText: "changed" }] }),
    call("bash", { command: "echo x > made; while [ ! -e go ]; do sleep 0.05; done" }),
    text("Done."),
  ])
  const killed = await vitamin(tmp, ["run", "--yes", "go"], {
    ...env(llm, "chat").variables,
    NODE_OPTIONS: `--import ${new URL("./fixture/die-at-rename.ts", import.meta.url)}`,
    VITAMIN_TEST_DIE: "after",
  })
  assert.notEqual(killed.code, 0)
  const stdout = await embed(
    tmp,
    llm,
    `const { existsSync, writeFileSync } = await import("node:fs")
     await bootstrap(process.cwd(), async () => {
       const [{ id }] = await Session.list()
       const diff = async () => {
         const changed = (await Session.diff(id)).files.map(({ path }) => path)
         const { status, owner } = await Session.get(id)
         console.log(JSON.stringify([changed, status, owner !== undefined]))
       }
       await diff()
       const answered = Session.prompt({ sessionId: id, text: "go on", asks: "once" })
       while (!existsSync("made")) await new Promise((resolve) => setTimeout(resolve, 20))
       await diff()
       writeFileSync("go", "")
       await answered
       await diff()
     })`,
  )
  assert.deepEqual(
    stdout.split("\n").map((line) => JSON.parse(line)),
    [
      [["README.md"], "interrupted", false],
      [["README.md"], "busy", true],
      [["README.md", "go", "made"], "idle", false],
    ],
  )
})
