// Permission requests over HTTP: pending ones, replies, and their events.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import type * as Permission from "#ability/permission/permission.ts"
import { apiOf } from "../../../fixture/api-of.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

const bash = (command: string) => call("bash", { command })

async function setUp(script: Parameters<typeof fakeLlm>[0]) {
  const tmp = await tmpdir({ git: true })
  const llm = await fakeLlm(script)
  const served = await serving(tmp, [], env(llm, "chat").variables)
  const { child } = served
  const api = apiOf(served)
  const session = (await api("POST", "/session", {})).body
  return {
    tmp,
    llm,
    api,
    session,
    ask: (more: object = {}) => api("POST", `/session/${session.id}/message`, { text: "go", ...more }),
    has: (name: string) => existsSync(join(tmp.path, name)),
    async pending(count = 1): Promise<Permission.Request[]> {
      for (const end = performance.now() + 20_000; performance.now() < end; await sleep(10)) {
        const { body } = await api("GET", "/permission/pending")
        if (body.length === count) return body
      }
      throw new Error(`there were never ${count} requests`)
    },
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

test("a request waits at GET /permission/pending and is answered with once, always and reject", async () => {
  const script = [bash("touch one"), bash("touch two"), bash("touch two"), bash("touch three"), text("done")]
  await using world = await setUp(script)
  const { api, session, has, pending, llm } = world
  const answered = world.ask()

  const [one] = await pending()
  assert.equal(one!.sessionId, session.id)
  assert.equal(one!.tool, "bash")
  assert.equal(one!.expires - one!.time, 600_000)
  const rule = { permission: "bash.execute", pattern: "touch one", action: "allow" }
  assert.deepEqual(one!.needs, [{ permission: "bash.execute", target: "touch one", rules: [rule] }])
  const waiting = await api("GET", `/session/${session.id}/message`)
  assert.equal(waiting.body.at(-1).data.calls[0].approval, "pending")
  assert.equal(has("one"), false)
  const respond = (id: string, body: object) => api("POST", `/permission/${id}/respond`, body)
  assert.equal((await respond(one!.id, { reply: "maybe" })).status, 400)
  assert.equal((await respond(one!.id, {})).status, 400)
  assert.equal((await respond("perm_none", { reply: "once" })).status, 404)
  assert.deepEqual((await respond(one!.id, { reply: "once" })).body, { replied: true })
  assert.equal((await respond(one!.id, { reply: "once" })).status, 404)

  const [two] = await pending()
  assert.equal(two!.needs[0]!.target, "touch two")
  assert.equal((await respond(two!.id, { reply: "always" })).status, 200)
  const { body: grants } = await api("GET", "/grant")
  assert.deepEqual(
    grants.map(({ agent, permission, pattern, scope }: Record<string, string>) => [
      agent,
      permission,
      pattern,
      scope,
    ]),
    [["build", "bash.execute", "touch two", "project"]],
  )

  const [three] = await pending()
  assert.equal(three!.needs[0]!.target, "touch three")
  await respond(three!.id, { reply: "reject", message: "enough" })
  assert.equal((await answered).status, 200)
  assert.deepEqual(["one", "two", "three"].map(has), [true, true, false])
  assert.match(JSON.stringify(llm.requests[4]!.body), /the person rejected it and says: enough/)
  const { body: messages } = await api("GET", `/session/${session.id}/message`)
  const approvals = messages.flatMap((message: { type: string; data: { calls: { approval: string }[] } }) =>
    message.type === "tool_request" ? message.data.calls.map(({ approval }) => approval) : [],
  )
  assert.deepEqual(approvals, ["approved", "approved", "approved", "denied"])
})

test('"always" counts as once if no rule can express it, and the answer says so', async () => {
  await using world = await setUp([bash("touch one > out"), text("done")])
  const { api, has, pending } = world
  const answered = world.ask()
  const [one] = await pending()
  assert.deepEqual(one!.needs[0]!.rules, [])
  const { status, body } = await api("POST", `/permission/${one!.id}/respond`, { reply: "always" })
  assert.deepEqual([status, body.replied], [200, true])
  assert.match(body.notice, /allowed once: no rule can allow exactly this for good/)
  await answered
  assert.equal(has("one"), true)
  assert.deepEqual((await api("GET", "/grant")).body, [])
})

test("a grant can be limited to the session, and DELETE /grant/:id revokes it", async () => {
  await using world = await setUp([bash("touch one"), text("a"), bash("touch one"), text("b")])
  const { api, session, pending, ask } = world
  const answered = ask()
  const [one] = await pending()
  const respond = (body: object) => api("POST", `/permission/${one!.id}/respond`, body)
  assert.equal((await respond({ reply: "always", scope: "planet" })).status, 400)
  assert.equal(
    (await respond({ reply: "always", scope: "session", expires: Date.now() + 600_000 })).status,
    200,
  )
  await answered
  const { body: grants } = await api("GET", "/grant")
  assert.equal(grants.length, 1)
  assert.deepEqual([grants[0].scope, grants[0].sessionId], ["session", session.id])
  assert.deepEqual((await api("DELETE", `/grant/${grants[0].id}`)).body, { removed: true })
  assert.equal((await api("DELETE", `/grant/${grants[0].id}`)).status, 404)
  const again = ask()
  const [two] = await pending()
  assert.equal(two!.needs[0]!.target, "touch one")
  await api("POST", `/permission/${two!.id}/respond`, { reply: "reject" })
  await again
})

test("all calls of a turn ask at once, may be answered in any order, and an abort withdraws the rest", async () => {
  await using world = await setUp([
    calls([bash("touch one"), bash("touch two"), bash("touch three")]),
    text("never"),
  ])
  const { api, session, has, pending } = world
  const answered = world.ask()
  const requests = await pending(3)
  await api("POST", `/permission/${requests[1]!.id}/respond`, { reply: "once" })
  assert.equal((await api("GET", `/session/${session.id}`)).body.status, "waiting")
  await api("POST", `/permission/${requests[0]!.id}/respond`, { reply: "once" })
  await pending(1)
  await until(() => has("two"), "the second call")
  await api("POST", `/session/${session.id}/abort`)
  await pending(0)
  assert.notEqual((await answered).status, 200)
  assert.deepEqual(["one", "two", "three"].map(has), [true, true, false])
  assert.equal((await api("GET", `/session/${session.id}`)).body.status, "interrupted")
})

test('a prompt with asks "deny" does not wait for replies, and plan mode changes nothing', async () => {
  await using world = await setUp([bash("touch one"), text("a"), bash("touch one"), text("b")])
  const { api, session, has, ask, llm } = world
  const rules = [{ permission: "*", pattern: "*", action: "allow" }]
  assert.equal((await ask({ asks: "deny", rules })).status, 200)
  assert.equal(has("one"), false, "who prompts over HTTP brings no rules")
  assert.match(JSON.stringify(llm.requests[1]!.body), /nobody can be asked here/)
  assert.equal((await ask({ asks: "perhaps" })).status, 400)
  const changed = await api("POST", `/session/${session.id}/mode`, { mode: "plan" })
  assert.deepEqual([changed.status, changed.body.mode], [200, "plan"])
  assert.equal((await api("POST", `/session/${session.id}/mode`, { mode: "dream" })).status, 400)
  assert.equal((await api("POST", "/session/sess_none/mode", { mode: "plan" })).status, 404)
  assert.equal((await ask({ asks: "once" })).status, 200)
  assert.equal(has("one"), false)
})

test("GET /openapi.json describes the permission routes and events", async () => {
  await using world = await setUp([])
  const { body } = await world.api("GET", "/openapi.json")
  const paths = ["/permission/pending", "/permission/{id}/respond", "/grant/{id}", "/session/{id}/mode"]
  for (const path of paths) assert.ok(Object.keys(body.paths).includes(path), path)
  const events = JSON.stringify(body.components.schemas.Event)
  for (const type of ["permission.requested", "permission.replied"])
    assert.ok(events.includes(`"${type}"`), type)
})

test("a reply with edits: true allows all edits of the session, and is refused for a command", async () => {
  const write = (path: string) => call("write", { path, content: "a\n" })
  await using world = await setUp([write("a"), write("b"), bash("touch one > two"), text("done")])
  const { api, has, pending } = world
  const answered = world.ask()
  const [one] = await pending()
  assert.match(one!.preview!, /^@@ -1,0 \+1,1 @@\n\+a$/)
  const expires = Date.now() + 3_600_000
  const edits = { reply: "always", scope: "session", edits: true, expires }
  assert.equal(
    (await api("POST", `/permission/${one!.id}/respond`, { reply: "once", edits: true })).status,
    400,
  )
  const wider = { ...edits, scope: "project" }
  assert.equal((await api("POST", `/permission/${one!.id}/respond`, wider)).status, 400)
  assert.equal((await api("POST", `/permission/${one!.id}/respond`, edits)).status, 200)
  const { body: grants } = await api("GET", "/grant")
  assert.deepEqual(
    grants.map((grant: { expires?: number }) => grant.expires),
    [expires, expires],
  )
  const [two] = await pending()
  assert.equal(two!.tool, "bash")
  assert.deepEqual(two!.needs[0]!.parts, [{ from: 0, to: 15, why: "writes a file" }])
  assert.deepEqual([has("a"), has("b")], [true, true])
  assert.equal((await api("POST", `/permission/${two!.id}/respond`, edits)).status, 400)
  assert.equal((await api("POST", `/permission/${two!.id}/respond`, { reply: "reject" })).status, 200)
  assert.equal((await answered).status, 200)
})

test("the preview of a large change is at most 64 KB, and says how many lines are left out", async () => {
  const content = `${"ü".repeat(400)}\n`.repeat(1_000)
  await using world = await setUp([call("write", { path: "a", content }), text("done")])
  const answered = world.ask()
  const [one] = await world.pending()
  assert.ok(Buffer.byteLength(one!.preview!) <= 64 << 10, `${Buffer.byteLength(one!.preview!)} bytes`)
  const shown = one!.preview!.split("\n")
  assert.equal(shown.at(-1), `… and ${1_001 - (shown.length - 1)} more lines`)
  await world.api("POST", `/permission/${one!.id}/respond`, { reply: "reject" })
  assert.equal((await answered).status, 200)
})

test("a person writes the rules of always: wider by a wildcard, never of another kind or for what decides what runs", async () => {
  const write = (path: string) => call("write", { path, content: "{}" })
  await using world = await setUp([
    bash("touch one"),
    bash("touch two"),
    bash("mkdir three"),
    write("src/a.json"),
    write("src/b.json"),
    write(".vitamin/vitamin.json"),
    text("done"),
  ])
  const { api, has, pending, tmp } = world
  const answered = world.ask()
  const respond = (id: string, rules: string[], more: object = {}) =>
    api("POST", `/permission/${id}/respond`, { reply: "always", rules, ...more })
  const [touch] = await pending()
  const wrong: [string[], object, RegExp][] = [
    [["file.write:**"], {}, /is not about what was asked for: bash\.execute/],
    [["bash.execute:touch other"], {}, /the rules do not allow what was asked for/],
    [["bash.exec:touch *"], {}, /touch \*.* cannot be used/],
    [["bash.execute: touch *"], {}, /there is a blank before/],
    [["bash.execute:touch *"], { reply: "once" }, /belong to \\?"always\\?"/],
    [[], {}, /rules/],
  ]
  for (const [rules, more, reason] of wrong) {
    const refused = await respond(touch!.id, rules, more)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.match(JSON.stringify(refused.body), reason)
  }
  assert.equal((await pending())[0]!.id, touch!.id, "the question stays open")
  assert.equal((await respond(touch!.id, ["bash.execute:touch *"])).status, 200)

  const [mkdir] = await pending()
  assert.equal(mkdir!.needs[0]!.target, "mkdir three")
  assert.ok(has("one") && has("two"))
  assert.equal((await respond(mkdir!.id, ["bash.execute:mkdir three"])).status, 200)

  const [file] = await pending()
  assert.equal(file!.needs[0]!.target, "src/a.json")
  // Its second rule names a file that decides what runs.
  assert.equal(
    (await respond(file!.id, ["file.write:src/**", "file.write:.vitamin/vitamin.json"])).status,
    200,
  )
  const [own] = await pending()
  assert.equal(own!.needs[0]!.target, ".vitamin/vitamin.json")
  assert.ok(has("src/b.json"))
  const refused = await respond(own!.id, ["file.write:**"])
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.message, /only as it was asked for/)
  await api("POST", `/permission/${own!.id}/respond`, { reply: "reject" })
  await answered

  const { body: grants } = await api("GET", "/grant")
  assert.deepEqual(
    grants.map(({ permission, pattern, written = false }: Record<string, unknown>) => [
      `${permission}:${pattern}`,
      written,
    ]),
    [
      ["bash.execute:touch *", true],
      ["bash.execute:mkdir three", false],
      ["file.write:src/**", true],
      ["file.write:.vitamin/vitamin.json", true],
    ],
  )
  const listed = await vitamin(tmp, ["permission", "list"])
  assert.match(listed.out, /build +bash\.execute:touch \*\n/)
  assert.equal((await vitamin(tmp, ["permission", "remove", grants[0].id])).code, 0)
  assert.equal((await api("GET", "/grant")).body.length, 3)
})
