// The transcript of a session for hooks: a JSONL file in the form that hooks of Claude Code read, one line for each message.
// It is written when a hook asks for its path, and then only grows by new messages.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { outputFolder } from "#ability/call/output-folder.ts"
import { toHook } from "#ability/hook/tool-names.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"

export function createTranscript(sessionId: string, history: readonly Message.Info[]): () => string {
  const folder = outputFolder(sessionId)
  const path = join(folder, "transcript.jsonl")
  let written = 0
  let isNew = true
  return () => {
    const lines = history.slice(written).flatMap(lineOf)
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("")
    if (isNew) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, text, { mode: 0o600 })
    } else if (text) appendFileSync(path, text)
    isNew = false
    written = history.length
    return path
  }
}

function lineOf(message: Message.Info): object[] {
  const { id: uuid, parentId: parentUuid, sessionId, time } = message
  const timestamp = new Date(time).toISOString()
  const place = { uuid, parentUuid, sessionId, timestamp, cwd: Instance.directory }
  if (message.type === "text") {
    const { role } = message.data
    const content = [{ type: "text", text: Message.textOf(message) }]
    if (role === "assistant") {
      const { model, usage } = message
      const said = { id: uuid, type: "message", role, model, content, usage: usageOf(usage) }
      return [{ type: "assistant", ...place, message: said }]
    }
    return [{ type: role, ...place, message: { role, content: Message.textOf(message) } }]
  }
  if (message.type === "tool_request") {
    const content = message.data.calls.map(callOf)
    const { model, usage } = message
    const said = { id: uuid, type: "message", role: "assistant", model, content, usage: usageOf(usage) }
    return [{ type: "assistant", ...place, message: said }]
  }
  if (message.type !== "tool_result") return []
  const { requestId: tool_use_id, output, status } = message.data
  const text = typeof output === "string" ? output : JSON.stringify(output)
  const result = { type: "tool_result", tool_use_id, content: text, is_error: status !== "success" }
  return [{ type: "user", ...place, message: { role: "user", content: [result] } }]
}

function callOf({ id, name, arguments: args }: Message.Call): object {
  const { tool_name, tool_input } = toHook(ToolRegistry.find(name) ?? { id: name }, args)
  return { type: "tool_use", id, name: tool_name, input: tool_input }
}

function usageOf(usage: Message.Usage | undefined): object {
  return { input_tokens: usage?.input ?? 0, output_tokens: usage?.output ?? 0 }
}
