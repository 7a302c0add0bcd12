// Rules apply to everything that a call reaches, not only to what it names: files below a folder, text in an edit's
// error, the target of a redirect, a path that is swapped before it is opened.
import assert from "node:assert/strict"
import { readFileSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import * as KeptFolder from "#ability/call/kept-folder.ts"
import { openForWriting } from "#ability/file/open-for-writing.ts"
import { openTarget } from "#ability/file/open-target.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import { redirect, site } from "../../ability/web/pages.ts"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { inWorld, resultsOf, type World } from "./harness.ts"

const rules = (allow: string[], deny: string[] = []) => [
  ...allow.map((rule) => Permission.parseRule(rule)),
  ...deny.map((rule) => Permission.parseRule(rule, "deny")),
]
const outputs = async ({ messages }: World) =>
  resultsOf(await messages()).map(({ output }) =>
    typeof output === "string" ? output : JSON.stringify(output),
  )
const next = async () => {
  await until(() => Permission.pending().length === 1, "a question")
  return Permission.pending()[0]!
}

/** A tool that returns what its context allows. */
function peek(permission: string): void {
  Tool.define("peek", () => ({
    description: "A tool of a test.",
    parameters: z.object({ target: z.string() }),
    permission: ({ target }) => [
      { permission, target: permission === "network.fetch" ? new URL(target).href : target },
    ],
    execute: async (_, { granted = [], reals = [] }) => ({ granted: [...granted], reals: [...reals] }),
  }))
}

const secrets = (world: World) => {
  world.tmp.write(".env", "KEY=hidden-value\n")
  world.tmp.write("src/a.txt", "KEY=plain-value\n")
  world.tmp.write("src/secret/b.txt", "KEY=hidden-value\n")
  symlinkSync("src", join(world.tmp.path, "link"))
}

test("grep and glob leave out files that may not be read, whatever path leads there", async () => {
  const script = [
    calls([
      call("grep", { pattern: "KEY=", glob: "**/{.env,*.txt}" }),
      call("grep", { pattern: "KEY=", path: "link" }),
      call("grep", { pattern: "hidden" }),
      call("glob", { pattern: "**/{.env,*.txt}" }),
      call("glob", { pattern: "**/*.txt", path: "link" }),
      call("grep", { pattern: "KEY=", path: "src/secret/b.txt" }),
    ]),
    text("done"),
  ]
  await inWorld(script, async (world) => {
    secrets(world)
    await world.ask("go", { rules: rules([], ["file.read:.env", "file.read:src/secret/**"]) })
    const [all, linked, hidden, files, linkedFiles, named] = await outputs(world)
    assert.equal(all, "src/a.txt\n1:KEY=plain-value")
    assert.equal(linked, "link/a.txt\n1:KEY=plain-value")
    assert.equal(hidden, "No match for hidden.")
    assert.equal(files, "src/a.txt")
    assert.equal(linkedFiles, "link/a.txt")
    assert.match(named!, /is denied by the rule "file\.read:src\/secret\/\*\*"/)
  })
})

test("grep leaves out files that would be asked for, unless the folder was asked for too, or everything is allowed", async () => {
  const look = () => [call("grep", { pattern: "KEY=", path: "src" }), text("done")]
  const ask = (...patterns: string[]) =>
    patterns.map((pattern) => ({ permission: "file.read", pattern, action: "ask" as const }))
  await inWorld([...look(), ...look(), ...look()], async (world) => {
    secrets(world)
    await world.ask("one", { rules: ask("src/secret/**") })
    await world.ask("two", { rules: ask("src/secret/**"), asks: "once" })
    const third = world.ask("three", { rules: ask("src/**") })
    await Permission.reply((await next()).id, "once")
    await third
    const [few, yes, asked] = await outputs(world)
    assert.doesNotMatch(few!, /hidden/)
    assert.match(yes!, /hidden/)
    assert.match(asked!, /hidden/)
  })
})

test("edit shows nothing of a file that may not be read", async () => {
  const edit = (oldText: string) => call("edit", { path: ".env", edits: [{ oldText, newText: "x" }] })
  await inWorld([calls([edit("KEY=hidden-vlaue"), edit("KEY=")]), text("done")], async (world) => {
    secrets(world)
    await world.ask("go", { asks: "once", rules: rules(["file.edit:**"], ["file.read:.env"]) })
    for (const output of await outputs(world)) {
      assert.match(output, /"edit" was not run: file\.read of ".*\.env" is denied by the rule/)
      assert.doesNotMatch(output, /hidden/)
    }
    assert.equal(readFileSync(join(world.tmp.path, ".env"), "utf8"), "KEY=hidden-value\n")
  })
})

test("fetch follows no redirect to a denied URL, or to another site that no rule allows", async () => {
  await using other = await site({ "/": "elsewhere" })
  await using web = await site({
    "/": redirect("/secret/x"),
    "/away": redirect(other.origin),
    "/secret/x": "hidden",
    "/next": redirect("/end"),
    "/end": "reached the end",
  })
  const get = (path: string) => call("fetch", { url: web.origin + path })
  await inWorld([calls([get("/"), get("/away"), get("/next")]), text("done")], async (world) => {
    const here = `network.fetch:${web.origin}/`
    await world.ask("go", { rules: rules([`${here}*`], [`${here}secret/*`]) })
    const [denied, away, followed] = await outputs(world)
    assert.match(denied!, /\/secret\/x" cannot be fetched: .* redirects to it, and the rules deny that/)
    assert.match(away!, /redirects to it, which was not allowed\. Fetch that URL itself to ask for it/)
    assert.match(followed!, /reached the end/)
    assert.deepEqual([other.asked.length, web.asked.filter(({ url }) => url === "/secret/x").length], [0, 0])
  })
})

test("a reply for a page also allows redirects within its site; a rule for a page allows only that page", async () => {
  await using web = await site({
    "/a": redirect("/b"),
    "/b": "page b",
    "/c": redirect("/c/"),
    "/c/": "page c",
  })
  const get = (path: string) => call("fetch", { url: web.origin + path })
  const script = [get("/a"), text("one"), get("/a"), text("two"), get("/c"), text("three")]
  await inWorld(script, async (world) => {
    const first = world.ask("one")
    await Permission.reply((await next()).id, "once")
    await first
    await world.ask("two", { rules: rules([`network.fetch:${web.origin}/a`]) })
    await world.ask("three", { rules: rules([`network.fetch:${web.origin}/c`]) })
    const [once, rule, slash] = await outputs(world)
    assert.match(once!, /page b/)
    assert.match(rule!, /which was not allowed\. Fetch that URL itself/)
    assert.match(slash!, /page c/)
  })
})

test("a reply for a host name does not allow its private address; a reply for the address, or a rule for the site, does", async () => {
  const name = "http://docs.example/x"
  const urls = [name, name, "http://2130706433:8080/x", "http://[::1]/x", "http://localhost/x"]
  const script = [...urls, name].flatMap((target) => [call("peek", { target }), text("done")])
  await inWorld(script, async (world) => {
    peek("network.fetch")
    for (const [i] of urls.entries()) {
      const asked = world.ask("go")
      await Permission.reply((await next()).id, i === 1 ? "always" : "once")
      await asked
    }
    await world.ask("named", { rules: rules(["network.fetch:http://docs.example/*"]) })
    assert.deepEqual(
      (await outputs(world)).map((output) => JSON.parse(output).granted),
      [[], [], ["http://127.0.0.1:8080"], ["http://[::1]"], ["http://localhost"], ["http://docs.example"]],
    )
  })
})

test("a folder that is swapped after it was judged is not followed, not even within the workspace", async () => {
  await inWorld([call("peek", { target: "docs/a.jsonc" }), text("done")], async (world) => {
    const { path } = world.tmp
    peek("file.write")
    world.tmp.write(".vitamin/a.jsonc", "{}\n")
    world.tmp.write("docs/a.jsonc", "{}\n")
    await world.ask("one", { asks: "once" })
    const { reals } = JSON.parse((await outputs(world))[0]!)
    assert.deepEqual(reals, [join(path, "docs/a.jsonc")])
    renameSync(join(path, "docs"), join(path, "old"))
    symlinkSync(".vitamin", join(path, "docs"))
    const { signal } = new AbortController()
    const context = { sessionId: world.session.id, messageId: "msg_1", callId: "call_1", signal, reals }
    const elsewhere = { name: "PathInvalid", message: /leads elsewhere than a moment ago/ }
    await assert.rejects(openForWriting("docs/a.jsonc", context), elsewhere)
    await assert.rejects(openTarget("docs/a.jsonc", context), elsewhere)
  })
})

test("a rule with a star does not allow a command that reaches a protected file through a link or from its folder", async () => {
  const bash = (command: string) => call("bash", { command })
  const commands = [
    "touch link/x",
    "echo x > link/x",
    "cd link; touch x",
    "cat link/a.md",
    "ls link/",
    "touch y",
  ]
  await inWorld([calls(commands.map(bash)), text("done")], async (world) => {
    const { tmp, session } = world
    tmp.write(".vitamin/a.md", "a\n")
    symlinkSync(".vitamin", join(tmp.path, "link"))
    await world.ask("go", { asks: "once", rules: rules(["bash.execute:*"]) })
    const [touch, redirect, cd, cat, ls, plain] = await outputs(world)
    for (const output of [touch, redirect, cd]) assert.match(output!, /It would change what runs/)
    assert.deepEqual([cat, ls, plain], ["a\n", "a.md\n", "(no output)"])
    KeptFolder.update(session.id, { from: tmp.path, to: join(tmp.path, ".vitamin") })
    world.llm.push(bash("touch x"), text("done"))
    await world.ask("again", { asks: "once", rules: rules(["bash.execute:*"]) })
    assert.match((await outputs(world)).at(-1)!, /It would change what runs/)
  })
})
