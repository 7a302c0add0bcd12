// Permission requests that are passed to a client.

import assert from "node:assert/strict"
import { test } from "node:test"
import type { AgentContext } from "@agentclientprotocol/sdk"
import * as Permission from "#ability/permission/permission.ts"
import { askPermission } from "#edge/acp/session/permission.ts"
import { runTurn } from "#edge/acp/session/run-turn.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { inWorld } from "../../../engine/session/harness.ts"
import { call, text } from "../../../fixture/fake-llm.ts"

const day = 86_400_000

test("askPermission() does not ask when the request is already closed", async () => {
  await inWorld([], async ({ session: { id: sessionId } }) => {
    const asked: string[] = []
    const client = {
      async request(method: string) {
        asked.push(method)
        return { outcome: { outcome: "cancelled" } }
      },
    } as unknown as AgentContext
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    Bus.subscribe(Permission.Requested, (request) => {
      askPermission({ client, sessionId, request, abort() {} }).then(end, end)
    })
    const turn = new AbortController()
    const place = { sessionId, messageId: "msg_01aaaaaaaaaaaaaaaaaaaaaaaa", callId: "c" }
    const answer = Permission.ask({ ...place, tool: "bash", needs: [], title: "Go on?", signal: turn.signal })
    turn.abort()
    assert.equal((await answer).by, "end")
    await over
    assert.deepEqual(asked, [])
  })
})

test("a permission request in an editor does not time out after minutes", async () => {
  const write = call("write", { path: "a.txt", content: "x" })
  await inWorld([write, text("Done.")], async ({ session: { id: sessionId } }) => {
    const patience: number[] = []
    Bus.subscribe(Permission.Requested, ({ id, time, expires }) => {
      patience.push(expires - time)
      void Permission.reply(id, "once")
    })
    const reason = await runTurn({
      sessionId,
      blocks: [{ type: "text", text: "write it" }],
      serving: { rules: [], yes: false },
      editor: undefined,
      directories: [],
      signal: new AbortController().signal,
    })
    assert.equal(reason, "end_turn")
    assert.equal(patience.length, 1)
    assert.ok(patience[0]! > 20 * day)
  })
})

test("an editor can allow all edits of a session", async () => {
  const write = (path: string) => call("write", { path, content: "x\n" })
  await inWorld([write("a.txt"), write("b.txt"), text("Done.")], async ({ session: { id: sessionId } }) => {
    const offered: unknown[][] = []
    const client = {
      async request(_: string, { options }: { options: { optionId: string; kind: string }[] }) {
        offered.push(options.map(({ optionId, kind }) => `${optionId} ${kind}`))
        return { outcome: { outcome: "selected", optionId: "edits" } }
      },
    } as unknown as AgentContext
    Bus.subscribe(Permission.Requested, (request) => {
      void askPermission({ client, sessionId, request, abort() {} })
    })
    const blocks = [{ type: "text" as const, text: "write both" }]
    const signal = new AbortController().signal
    const serving = { rules: [], yes: false }
    const reason = await runTurn({ sessionId, blocks, serving, editor: undefined, directories: [], signal })
    assert.equal(reason, "end_turn")
    assert.deepEqual(offered, [
      ["once allow_once", "always allow_always", "edits allow_always", "reject reject_once"],
    ])
  })
})
