// Grants: for which agent, where and how long they apply, and what they cannot allow.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Grant from "#ability/permission/grant.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { call, calls, type Request, text } from "../../fixture/fake-llm.ts"
import { inWorld, type World } from "./harness.ts"
import { needy, next, use } from "./needy.ts"

/** A model that calls the tool with the target that the prompt names, then answers. */
const doIt = ({ messages }: Request) => {
  const last = messages.at(-1)!
  return last.results.length ? text("done") : use(last.text)
}
const draft = (more: Partial<Grant.Info> = {}): Grant.Info => ({
  id: "grant_x",
  time: 1,
  agent: "build",
  sessionId: "sess_x",
  worktree: Instance.worktree,
  scope: "project",
  permission: "network.fetch",
  pattern: "a",
  ...more,
})
const put = (grant: object & { id: string }) => Storage.write(["grant", Instance.project.id, grant.id], grant)
const log = ({ tmp }: World) => readFileSync(join(tmp.path, "..", "log"), "utf8")
const ended = { asks: "deny" as const }

/** Answers the one question of a prompt. */
async function answered(work: Promise<unknown>, ...reply: [Permission.Reply, Permission.Details?]) {
  const [request] = await next()
  await Permission.reply(request!.id, ...reply)
  await work
}

test("a grant applies in the next session of the project, for the same agent only", async () => {
  await inWorld(doIt, async ({ ask }) => {
    const ran = needy()
    defineAgent({ id: "scout" })
    await answered(ask("a"), "always")
    const other = await Session.create()
    await ask("a", { sessionId: other.id, ...ended })
    assert.deepEqual(ran, ["a", "a"])
    await ask("a", { sessionId: other.id, agent: "scout", ...ended })
    await ask("ab", { sessionId: other.id, agent: "build", ...ended })
    assert.deepEqual(ran, ["a", "a"])
  })
})

test("a grant for a session applies only there and is removed with it; forks and imports do not copy it", async () => {
  await inWorld(doIt, async ({ ask, session }) => {
    const ran = needy()
    await answered(ask("a"), "always", { scope: "session" })
    await answered(ask("b"), "always")
    await ask("a", ended)
    assert.deepEqual(ran, ["a", "b", "a"])
    const forked = await Session.fork(session.id)
    const imported = await Session.import(await Session.export(session.id))
    for (const { id: sessionId } of [forked, imported, await Session.create()])
      await ask("a", { sessionId, ...ended })
    assert.deepEqual(ran, ["a", "b", "a"])
    const patterns = async () => (await Grant.list()).map(({ pattern }) => pattern)
    assert.deepEqual(await patterns(), ["a", "b"])
    await Session.remove(session.id)
    assert.deepEqual(await patterns(), ["b"])
  })
})

test("a revoked grant no longer applies, also for a running prompt", async () => {
  await inWorld([use("a"), use("b"), use("a"), text("done")], async ({ ask }) => {
    const ran = needy()
    const work = ask("go")
    await Permission.reply((await next())[0]!.id, "always")
    const [second] = await next()
    await Grant.remove((await Grant.list())[0]!.id)
    await Permission.reply(second!.id, "once")
    const [third] = await next()
    assert.equal(third!.needs[0]!.target, "a")
    await Permission.reply(third!.id, "reject")
    await work
    assert.deepEqual(ran, ["a", "b"])
    await assert.rejects(Grant.remove("grant_none"), { name: "Grant.NotFound" })
  })
})

test("a deny rule that is added to the configuration later wins over a grant, in any file", async () => {
  await inWorld(doIt, async ({ ask, tmp, messages }) => {
    const ran = needy()
    await answered(ask("a"), "always")
    const permission = [{ permission: "network.fetch", pattern: "a", action: "deny" }]
    for (const file of [".vitamin/config.jsonc", "../config/vitamin/vitamin.jsonc"]) {
      tmp.write(file, JSON.stringify({ permission }))
      await Config.reload()
      await ask("a", ended)
      assert.match(JSON.stringify((await messages()).at(-2)), /denied by the rule/)
      tmp.write(file, JSON.stringify({ permission: [{ ...permission[0], action: "ask" }] }))
      await Config.reload()
    }
    assert.deepEqual(ran, ["a"])
    await ask("a", ended)
    assert.deepEqual(ran, ["a", "a"], "what is asked for was answered")
  })
})

test("a deny rule of the agent, of the prompt and of plan mode wins over a grant", async () => {
  await inWorld(doIt, async ({ ask, session }) => {
    const ran = needy({ permission: "file.write" })
    const deny = Permission.parseRule("file.write:a", "deny")
    defineAgent({ id: "shy", permissions: [deny] })
    for (const agent of ["build", "shy"])
      await put(draft({ id: `grant_${agent}`, agent, permission: "file.write" }))
    await ask("a", { agent: "shy" })
    await ask("a", { agent: "build", rules: [deny] })
    await Session.setMode(session.id, "plan")
    await ask("a")
    assert.deepEqual(ran, [])
    await Session.setMode(session.id, "act")
    await ask("a", ended)
    assert.deepEqual(ran, ["a"])
  })
})

test('a task needs the rights of its agent and of all its parents; "always" grants them to each agent that lacks them', async () => {
  const script = ({ messages }: Request) => {
    const [first] = messages
    if (messages.at(-1)!.results.length) return text("done")
    return first!.text.startsWith("do ")
      ? use(first!.text.slice(3))
      : call("subtask", JSON.parse(first!.text))
  }
  await inWorld(script, async ({ ask }) => {
    const ran = needy()
    defineAgent({ id: "scout" })
    defineAgent({ id: "other" })
    const give = async (agent: string, target: string, more = {}) => {
      const { id: sessionId } = await Session.create()
      const rules = [Permission.parseRule("agent.delegate")]
      return ask(JSON.stringify({ task: `do ${target}`, agent }), { sessionId, rules, ...more })
    }
    const patterns = async () => (await Grant.list()).map(({ agent, pattern }) => `${agent} ${pattern}`)

    const work = give("scout", "a")
    const [request] = await next()
    assert.deepEqual([request!.agent, request!.agents], ["scout", ["scout", "build"]])
    await Permission.reply(request!.id, "always")
    await work
    assert.deepEqual((await patterns()).sort(), ["build a", "scout a"])
    await give("scout", "a", ended)
    await give("build", "a", ended)
    assert.deepEqual(ran, ["a", "a", "a"])
    await give("other", "a", ended)
    assert.deepEqual(ran, ["a", "a", "a"], "the right of who gave the task is not enough")

    const again = give("other", "a")
    const [second] = await next()
    assert.deepEqual(second!.agents, ["other"])
    await Permission.reply(second!.id, "always")
    await again
    assert.deepEqual((await patterns()).sort(), ["build a", "other a", "scout a"])
    await Grant.remove((await Grant.list()).find(({ agent }) => agent === "build")!.id)
    await give("other", "a", ended)
    assert.deepEqual(ran, ["a", "a", "a", "a"], "the right of who does it is not enough")

    const third = give("scout", "a")
    const [asked] = await next()
    assert.deepEqual(asked!.agents, ["build"])
    await Grant.remove((await Grant.list()).find(({ agent }) => agent === "scout")!.id)
    await Permission.reply(asked!.id, "always")
    await third
    assert.deepEqual(
      (await patterns()).sort(),
      ["build a", "other a"],
      "nobody that the question did not name",
    )
  })
})

test('"always" for a session applies to every task of that session', async () => {
  const script = [
    calls([call("subtask", { task: "one" })]),
    use("a"),
    text("did"),
    call("subtask", { task: "two" }),
    use("a"),
    text("did"),
    text("done"),
  ]
  await inWorld(script, async ({ ask, session }) => {
    const ran = needy()
    const work = ask("go", { rules: [Permission.parseRule("agent.delegate")] })
    await answered(work, "always", { scope: "session" })
    assert.deepEqual(ran, ["a", "a"])
    assert.deepEqual(
      (await Grant.list()).map(({ sessionId, scope }) => [sessionId, scope]),
      [[session.id, "session"]],
    )
  })
})

test('"always" also answers open questions of other sessions that it allows', async () => {
  await inWorld(doIt, async ({ ask }) => {
    const ran = needy()
    const { id: sessionId } = await Session.create()
    const work = [ask("a"), ask("a", { sessionId })]
    const [first] = await next(2)
    await Permission.reply(first!.id, "always")
    await Promise.all(work)
    assert.deepEqual(ran, ["a", "a"])
    assert.equal((await Grant.list()).length, 1)
  })
})

test("a grant expires as stated, and applies only in its work tree", async () => {
  await inWorld(doIt, async ({ ask }) => {
    const ran = needy()
    await answered(ask("a"), "always", { expires: 1 })
    await put(draft({ id: "grant_past", pattern: "b", expires: Date.now() - 1 }))
    await put(draft({ id: "grant_later", pattern: "c", expires: Date.now() + 600_000 }))
    await put(draft({ id: "grant_else", pattern: "d", worktree: dirname(Instance.worktree) }))
    for (const target of ["a", "b", "c", "d"]) await ask(target, ended)
    assert.deepEqual(ran, ["a", "c"])
    assert.deepEqual(
      (await Grant.list()).map(({ id }) => id),
      ["grant_else", "grant_later"],
    )
  })
})

test("a broken grant allows nothing, is reported, and does not affect others", async () => {
  await inWorld(doIt, async (world) => {
    const ran = needy()
    const { worktree: _, ...rest } = draft({ id: "grant_short" })
    const broken = [
      rest,
      draft({ id: "grant_star", pattern: "*" }),
      draft({ id: "grant_empty", pattern: "" }),
      draft({ id: "grant_folder", permission: "file.read", pattern: "/" }),
      draft({ id: "grant_name", permission: "network.*" }),
      draft({ id: "grant_scope", scope: "all" as "project" }),
      draft({ id: "grant_end", expires: "never" as unknown as number }),
      { ...draft({ id: "grant_more" }), only: "on Sundays" },
    ]
    for (const grant of broken) await put(grant)
    await Storage.write(["grant", Instance.project.id, "grant_copy"], draft({ id: "grant_other" }))
    const file = join(Global.data(), "storage", "grant", Instance.project.id, "grant_bytes.json")
    writeFileSync(file, JSON.stringify(draft({ id: "grant_bytes" })).slice(0, -1))
    await world.ask("a", ended)
    assert.deepEqual(ran, [])
    const said = log(world)
    for (const id of [...broken.map((grant) => grant.id), "grant_copy", "grant_bytes"])
      assert.match(said, new RegExp(`grant ${id} is broken and allows nothing`), id)
    await put(draft({ id: "grant_good" }))
    await world.ask("a", ended)
    assert.deepEqual(ran, ["a"])
    await Grant.remove("grant_star")
    assert.equal(await Grant.removeAll(), broken.length + 1)
    assert.deepEqual(await Grant.list(), [])
  })
})

test('"always" is not stored if its rule contains a secret: redacted, it would be another rule', async () => {
  await inWorld(doIt, async (world) => {
    const ran = needy()
    Secret.register("tr0ub4dor&3-of-the-test", "a key")
    await answered(world.ask("https://a/?key=tr0ub4dor&3-of-the-test"), "always")
    assert.equal(ran.length, 1)
    assert.deepEqual(await Grant.list(), [])
    assert.match(log(world), /"always" is not stored, because it contains a secret/)
  })
})

test("an invalid reply is refused, and the question stays open", async () => {
  await inWorld(doIt, async ({ ask }) => {
    needy()
    const work = ask("a")
    const [request] = await next()
    const wrong = { scope: "world" } as unknown as Permission.Details
    await assert.rejects(Permission.reply(request!.id, "always", wrong), { name: "Permission.InvalidReply" })
    await assert.rejects(Permission.reply(request!.id, "perhaps" as "once"), {
      name: "Permission.InvalidReply",
      message: /"perhaps" cannot be used: it is not one of once, always, reject/,
    })
    await answered(work, "reject")
    assert.deepEqual(await Grant.list(), [])
  })
})

test("a path from a subfolder means the same file in the question, the grant and the flag", async () => {
  await inWorld(
    doIt,
    async ({ ask, tmp, messages }) => {
      tmp.write("sub/file", "")
      const directory = join(tmp.path, "sub")
      const { worktree } = Instance
      const there = await Instance.provide({ directory, fn: () => ({ worktree: Instance.worktree }) })
      assert.equal(there.worktree, worktree, "a folder of the same project")
      await Instance.provide({
        directory,
        async fn() {
          const ran = needy({ permission: "file.write" })
          const { id: sessionId } = await Session.create()
          await ask("a", { sessionId, ...ended })
          assert.match(JSON.stringify(await Session.messages(sessionId)), /--allow .{2,4}file\.write:sub\/a/)
          await answered(ask("a", { sessionId }), "always")
          assert.deepEqual(
            (await Grant.list()).map(({ pattern }) => pattern),
            ["sub/a"],
          )
          await ask("a", { sessionId, ...ended })
          await ask("../a", { sessionId, ...ended })
          assert.deepEqual(ran, ["a", "a"])
        },
      })
      assert.equal((await messages()).length, 0)
    },
    { git: true },
  )
})
