// The line about an attachment.
import assert from "node:assert/strict"
import { test } from "node:test"
import { describeAttachment } from "#edge/cli/terminal/message-line.ts"
import * as Message from "#knowledge/message/message.ts"

function line(more: { retrievedAt?: number; error?: string }) {
  const data = { serverName: "wiki", resourceUri: "page://one", content: "", retrievedAt: 0, ...more }
  return describeAttachment(
    Message.make({ sessionId: "sess_1", parentId: null, branch: "main", type: "mcp_resource", data }),
  )
}

test("a resource is shown as attached when it was read, not while a person is asked", () => {
  assert.equal(line({}), undefined)
  assert.equal(line({ retrievedAt: 1 }), "· attached wiki:page://one")
  assert.equal(line({ error: "no" }), "✗ wiki:page://one could not be attached: no")
})
