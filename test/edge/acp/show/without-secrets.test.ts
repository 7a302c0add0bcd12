// Secrets are redacted in the text of updates. Keywords, ids and paths stay, even if a weak secret equals one.
import assert from "node:assert/strict"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { McpServer, SessionUpdate } from "@agentclientprotocol/sdk"
import { withoutSecrets } from "#edge/acp/show/without-secrets.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { call, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { choose, connected, on } from "../harness.ts"
import { assertIs } from "../schema.ts"

const words = ["tool_call_update", "completed", "toolCallId", "agent_message_chunk", "sessionUpdate"]

test("withoutSecrets() redacts text, and leaves keywords, ids and paths unchanged", () => {
  const secrets = [...words, "postgres-3d1f"]
  for (const secret of secrets) Secret.register(secret, "SECRET")
  const said = secrets.join(" ")
  const clean = secrets.map(() => "[SECRET]").join(" ")
  const path = "/home/ann/my-postgres-3d1f-app/a.txt"
  const updatesWith = (text: string): SessionUpdate[] => [
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "postgres-3d1f",
      status: "completed",
      title: text,
      locations: [{ path }],
      rawInput: { path: [text] },
      rawOutput: text,
      content: [
        { type: "content", content: { type: "text", text } },
        { type: "diff", path, oldText: text, newText: text },
      ],
    },
    { sessionUpdate: "plan", entries: [{ content: text, priority: "high", status: "completed" }] },
    { sessionUpdate: "agent_message_chunk", messageId: "completed", content: { type: "text", text } },
  ]
  const received = updatesWith(said).map(withoutSecrets)
  for (const update of received) assertIs("SessionUpdate", update)
  assert.deepEqual(received, updatesWith(clean))
})

test("paths are sent unchanged when a folder name contains a secret", async () => {
  await using tmp = await tmpdir({ git: true })
  const cwd = join(tmp.path, "my-postgres-app")
  mkdirSync(cwd)
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "x" }), text("Done.")])
  await using acp = await connected(tmp, { llm, permit: choose("allow_once") })
  const env = [{ name: "PGPASSWORD", value: "postgres" }]
  const server: McpServer = { name: "db", command: "/nowhere/db", args: [], env }
  const { sessionId } = await acp.agent.request(on.session.new, { cwd, mcpServers: [server] })
  await acp.agent.request(on.session.prompt, { sessionId, prompt: [{ type: "text", text: "write it" }] })
  const path = join(cwd, "a.txt")
  assert.deepEqual(acp.of("tool_call")[0]?.locations, [{ path }])
  assert.deepEqual(acp.permissions[0]?.toolCall.locations, [{ path }])
  const content = acp.of("tool_call_update").at(-1)?.content ?? []
  assert.deepEqual(
    content.flatMap((item) => (item.type === "diff" ? [item.path] : [])),
    [path],
  )
})
