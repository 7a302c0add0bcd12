// Messages that lie on the disk before the server starts.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import type { Message } from "#client/client.ts"

export type Laid = { type: Message["type"]; data: object }

const program = new URL("../../fixture/lay-messages.ts", import.meta.url).pathname

/** Returns the id of the session. */
export function layMessages(directory: string, messages: readonly Laid[], title = "laid"): string {
  const input = JSON.stringify({ directory, title, messages })
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { input, encoding: "utf8" })
  assert.equal(status, 0, stderr)
  return stdout
}

export function says(role: "user" | "assistant", text: string): Laid {
  return {
    type: "text",
    data: { role, parts: [{ type: "text", text }], ...(role === "assistant" ? { finish: "stop" } : {}) },
  }
}

/** A call with what it gave. */
export function ran(call: { name: string; arguments: object }, output: string, metadata?: object): Laid[] {
  const id = `call_${Math.random().toString(36).slice(2)}`
  return [
    { type: "tool_request", data: { calls: [{ id, approval: "approved", ...call }] } },
    {
      type: "tool_result",
      data: {
        requestId: id,
        toolName: call.name,
        status: "success",
        output,
        duration: 3,
        timestamp: 1,
        ...(metadata ? { metadata } : {}),
      },
    },
  ]
}
