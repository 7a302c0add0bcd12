// A guest that lies on the pipe: the parent runs a prompt "in" it, and the test is the guest. Whatever it sends, the records,
// grants and sessions of others stay as they are, and the prompt ends with a clear error.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Grant from "#ability/permission/grant.ts"
import { maxFrame } from "#edge/sandbox/wire/frames.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { hashText } from "#util/hash-text.ts"
import { frame, head, type Lie, withGuest } from "./lying-guest.ts"

const refused = { name: "Sandbox.Refused" }

function textMessage(sessionId: string, text: string): Message.Info {
  const data = { role: "assistant" as const, parts: [{ type: "text" as const, text }] }
  return Message.make({ sessionId, parentId: null, branch: "main", type: "text", data })
}

test("a guest cannot read or write records of other sessions, projects and kinds", async () => {
  await withGuest(async ({ peer, session, other }) => {
    const project = Instance.project.id
    const message = Message.make({
      ...{ sessionId: other.id, parentId: null, branch: "main" },
      type: "text",
      data: { role: "assistant", parts: [{ type: "text", text: "forged" }] },
    })
    const grant = { id: "grant_1", agent: "build", permission: "bash.execute", pattern: "rm" }
    const reads = [
      ["session", project, other.id],
      ["message", other.id, "msg_1"],
      ["trust", "0".repeat(40)],
      ["meta", "version"],
      ["relation", other.id],
    ]
    for (const key of reads) await assert.rejects(peer.ask("record.get", { key }), refused, key.join("/"))
    const writes: [string[], unknown][] = [
      [["session", project, other.id], { ...other, title: "forged" }],
      [["session", "elsewhere", session.id], session],
      [["message", other.id, message.id], message],
      [["message", session.id, message.id], message],
      [["grant", project, "grant_1"], grant],
      [["trust", "0".repeat(40)], { directory: "/", time: 0, files: {} }],
      [["meta", "version"], { version: 9 }],
      [["revert", session.id], {}],
    ]
    for (const [key, value] of writes) {
      const text = JSON.stringify(value)
      await assert.rejects(peer.ask("record.put", { key, text }), refused, key.join("/"))
      await assert.rejects(
        peer.ask("record.swap", { key, before: null, after: text }),
        refused,
        key.join("/"),
      )
    }
    for (const prefix of [
      ["session"],
      ["session", project],
      ["trust"],
      ["message", other.id],
      ["grant", "x"],
    ])
      await assert.rejects(peer.ask("record.list", { prefix }), refused, prefix.join("/"))
    await assert.rejects(peer.ask("record.remove", { key: ["session", project, session.id] }), refused)
    await assert.rejects(peer.ask("record.remove", { key: ["message", other.id, "m"] }), refused)
    assert.deepEqual(await Session.messages(other.id), [])
    assert.equal((await Session.get(other.id)).title, "")
    assert.deepEqual(await Grant.list(), [])
  })
})

test("a guest cannot change the mode, folder, owner or agent of its session", async () => {
  await withGuest(async ({ peer, session }) => {
    const key = ["session", session.projectId, session.id]
    const before = (await peer.ask("record.get", { key })) as string
    const wanted = {
      ...JSON.parse(before),
      ...{ mode: "plan", directory: "/", agent: "plan", model: "openai/expensive", metadata: { a: 1 } },
      ...{ status: "busy", owner: { pid: 1, started: "1" }, title: "mine", skipped: [] },
    }
    await peer.ask("record.put", { key, text: JSON.stringify(wanted) })
    const stored = await Session.get(session.id)
    assert.equal(stored.title, "mine")
    assert.deepEqual(
      [stored.mode, stored.directory, stored.agent, stored.model, stored.metadata, stored.owner?.pid],
      ["act", session.directory, session.agent, undefined, {}, process.pid],
    )
  })
})

test("a guest cannot store a snapshot or a revert of its own, which an undo would carry out", async () => {
  await withGuest(async ({ peer, session }) => {
    const base = { sessionId: session.id, parentId: null, branch: "main" }
    const part = {
      ...{ id: "snap_1", time: 0, tool: "bash", root: Instance.worktree, scope: "paths", done: true },
      files: [{ path: ".git/hooks/pre-commit", before: { kind: "file", mode: 0o755, size: 1, hash: "0" } }],
    }
    const request = Message.make({
      ...base,
      type: "tool_request",
      data: { calls: [{ id: "c", name: "bash", arguments: {}, approval: "approved", snapshot: part }] },
    } as never)
    const revert = Message.make({
      ...base,
      type: "system_control",
      data: { control: "revert", parameters: { snapshot: part } },
    } as never)
    for (const message of [request, revert])
      await assert.rejects(
        peer.ask("record.put", { key: ["message", session.id, message.id], text: JSON.stringify(message) }),
        refused,
      )
  })
})

test("a guest can name no other model, and no question that it was not asked", async () => {
  await withGuest(async ({ peer }) => {
    const stream = { stream: 1, model: "openai/gpt-5", options: { prompt: [] } }
    await assert.rejects(peer.ask("model.stream", stream), refused)
    await assert.rejects(peer.ask("model.choose", { agent: null, names: ["openai/gpt-5"] }), refused)
    await assert.rejects(peer.ask("model.choose", { agent: "nobody", names: [] }), { name: "Agent.NotFound" })
    for (const name of ["config.set", "permission.reply", "constructor", "__proto__"])
      await assert.rejects(peer.ask(name, {}), refused, name)
  })
})

const endings: [string, RegExp, (guest: Lie) => unknown][] = [
  ["a frame that is not JSON", /a frame that is not JSON/, ({ stream }) => stream.write(frame("{"))],
  ["a giant frame", /a frame of \d+ bytes/, ({ stream }) => stream.write(head(maxFrame + 1))],
  ["a frame of an unknown form", /unknown form/, ({ stream }) => stream.write(frame('{"do":"it"}'))],
  [
    "a reply that nobody asked for",
    /nobody asked/,
    ({ stream }) => stream.write(frame('{"id":7,"reply":1}')),
  ],
  [
    "an event about another session",
    /an event about another session \(session\.idle\)/,
    ({ peer, other }) => peer.note("event", { type: "session.idle", payload: { sessionId: other.id } }),
  ],
  [
    "an event that does not fit its schema",
    /session\.error.*was refused/,
    ({ peer, session }) => peer.note("event", { type: "session.error", payload: { sessionId: session.id } }),
  ],
  [
    "a flood of events",
    /a flood of events/,
    ({ peer, session }) => {
      for (let i = 0; i < 20_000; i++)
        peer.note("event", { type: "session.idle", payload: { sessionId: session.id } })
    },
  ],
]

for (const [what, reason, lie] of endings)
  test(`a guest that sends ${what} is ended, and the prompt says so`, async () => {
    const error = await withGuest(async (guest) => {
      lie(guest)
      await guest.peer.closed
    })
    assert.match(error.message, reason)
  })

test("a guest cannot publish events that only the parent publishes", async () => {
  await withGuest(async ({ peer, session }) => {
    const seen: string[] = []
    const stop = Bus.subscribe("*", ({ type }) => void seen.push(type))
    const message = textMessage(session.id, "never stored")
    const payload = { sessionId: session.id, id: "x", reply: "always", by: "person", message }
    for (const type of [
      ...["permission.replied", "session.removed", "config.changed", "instance.disposed"],
      ...["message.created", "message.updated"],
    ])
      peer.note("event", { type, payload })
    // A request behind them: the notes have been taken when it is answered.
    await peer.ask("record.get", { key: ["session", session.projectId, session.id] })
    stop()
    assert.deepEqual(seen, [])
  })
})

test("the parent publishes the messages that a guest stores, as they are stored", async () => {
  await withGuest(async ({ peer, session }) => {
    const seen: unknown[] = []
    const stop = Bus.subscribe("*", ({ type, payload }) => void seen.push([type, payload]))
    const message = textMessage(session.id, "first")
    const key = ["message", session.id, message.id]
    const after = JSON.stringify(message)
    await peer.ask("record.swap", { key, before: null, after })
    await peer.ask("record.swap", { key, before: hashText(after), after: after.replace("first", "second") })
    stop()
    const [one, two] = [message, JSON.parse(after.replace("first", "second"))].map((message) => ({
      sessionId: session.id,
      message,
    }))
    assert.deepEqual(seen, [
      ["message.created", one],
      ["message.updated", two],
    ])
  })
})

test("a guest cannot ask in the name of another agent, for which an answer would be remembered", async () => {
  await withGuest(async ({ peer, session }) => {
    const need = { permission: "bash.execute", target: "make" }
    const question = {
      ...{ sessionId: session.id, messageId: "m", callId: "c", tool: "bash", title: "t", needs: [need] },
      onlyListeners: true,
    }
    await assert.rejects(
      peer.ask("permission.ask", { ...question, agent: "plan", agents: ["plan"] }),
      refused,
    )
    const { agent } = session
    const answer = await peer.ask("permission.ask", { ...question, agent, agents: [agent] })
    assert.equal((answer as { by: string }).by, "nobody")
  })
})

test("a guest is told at once when a grant is revoked or given elsewhere", async () => {
  await withGuest(async ({ peer, session, told }) => {
    const last = () => JSON.stringify(told.at(-1))
    const draft = { agent: "build", sessionId: session.id, scope: "project" as const }
    await Grant.create({ ...draft, rules: [{ permission: "bash.execute", pattern: "ls", action: "allow" }] })
    const [grant] = await Grant.list()
    const take = { sessionId: session.id, messageId: "m", callId: "c", tool: "write", paths: [] }
    await peer.ask("snapshot.take", take)
    assert.match(last(), new RegExp(grant!.id))
    await Grant.remove(grant!.id)
    await peer.ask("snapshot.take", take)
    assert.doesNotMatch(last(), new RegExp(grant!.id))
  })
})

test("a guest that ends in the middle of a call leaves a session that is not busy, and a result for the call", async () => {
  const lie = async ({ peer, stream, session }: Lie) => {
    const { id } = session
    const key = ["session", session.projectId, session.id]
    const record = JSON.parse((await peer.ask("record.get", { key })) as string)
    await peer.ask("record.put", { key, text: JSON.stringify({ ...record, status: "busy" }) })
    const request = Message.make({
      ...{ sessionId: session.id, parentId: null, branch: "main" },
      type: "tool_request",
      data: { calls: [{ id: "c", name: "bash", arguments: {}, approval: "approved" }] },
    } as never)
    await peer.ask("record.put", { key: ["message", id, request.id], text: JSON.stringify(request) })
    queueMicrotask(() => stream.destroy())
    await peer.closed
  }
  const error = await withGuest(lie, {
    async after({ id }) {
      assert.equal((await Session.get(id)).status, "error")
      const [, result] = await Session.messages(id)
      assert.deepEqual(result?.type === "tool_result" && result.data.status, "interrupted")
    },
  })
  assert.equal(error.name, "Sandbox.Ended")
  assert.match(error.message, /ended in the middle of the prompt .* The next prompt starts a new one\./)
})
