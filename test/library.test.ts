// The library as an embedding program uses it: a process of its own that imports `dist`.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { run } from "./fixture/child.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "./fixture/fake-llm.ts"
import { noServers } from "./fixture/no-servers.ts"
import { type Tmp, tmpdir } from "./fixture/tmpdir.ts"

const library = JSON.stringify(new URL("../dist/index.js", import.meta.url).href)

/** Runs `body` in an instance, with everything that the package exports as `vitamin`. */
async function embed(tmp: Tmp, llm: FakeLlm, body: string): Promise<{ stdout: string; stderr: string }> {
  tmp.write(
    "program.mjs",
    `import * as vitamin from ${library}
     const { bootstrap, Bus, Message, Permission, Session } = vitamin
     await bootstrap(process.cwd(), async () => {
       const { id: sessionId } = await Session.create()
       ${body}
     })`,
  )
  await using child = run(process.execPath, ["program.mjs"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...env(llm, "chat").variables },
  })
  assert.equal(await child.exit, 0, child.errors())
  return { stdout: child.lines.join("\n"), stderr: child.errors() }
}

test("Session.prompt() denies at once what must be asked when nothing listens for questions", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Could not.")])
  const { stdout } = await embed(
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
  const { stdout } = await embed(
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

for (const [name, options] of [
  ["rules", '{ rules: [{ permission: "bash.execute", pattern: "touch made", action: "allow" }] }'],
  ["asks", '{ asks: "once" }'],
] as const)
  test(`Session.prompt() runs what ${name} allow, without a listener`, async () => {
    await using tmp = await tmpdir()
    await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("Done.")])
    await embed(tmp, llm, `await Session.prompt({ sessionId, text: "make a file", ...${options} })`)
    assert.ok(existsSync(join(tmp.path, "made")))
  })
