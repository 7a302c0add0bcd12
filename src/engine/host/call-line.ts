// One line about a tool call that has ended, for clients of `vitamin mcp serve` and `vitamin a2a serve`.
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type * as Message from "#knowledge/message/message.ts"

const maxLine = 160

export function callLine({ toolName, status, metadata, error }: Message.Of<"tool_result">["data"]): string {
  const title = status === "success" ? metadata?.title : error?.message.split("\n", 1)[0]
  const line = `${status === "success" ? "·" : "✗"} ${toolName} ${typeof title === "string" ? title : ""}`
  return Log.escapeControls(Secret.redact(line).slice(0, maxLine)).trim()
}
