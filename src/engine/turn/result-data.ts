// The stored form of a call's result, for calls of models and of clients of `vitamin mcp serve`.
import { isDeepStrictEqual } from "node:util"
import type { runTool } from "#ability/tool/run-tool.ts"
import type * as Message from "#knowledge/message/message.ts"

type Result = Awaited<ReturnType<typeof runTool>>

export function resultData(
  call: { id: string; name: string },
  result: Result,
): Message.Of<"tool_result">["data"] {
  const { status, text, data, title, error, duration } = result
  const hasText = isText(result)
  return {
    requestId: call.id,
    toolName: call.name,
    status,
    output: hasText ? text : data!,
    ...(error ? { error } : {}),
    duration,
    timestamp: Date.now(),
    metadata: { ...(title ? { title } : {}), ...(hasText && data !== undefined ? { data } : {}) },
  }
}

/** Whether the text says more than the data. If it is only the data as JSON, the text is not stored. */
function isText({ status, text, data }: Result): boolean {
  if (status !== "success" || typeof data !== "object" || data === null) return true
  if (!/^\s*[[{]/.test(text)) return true
  try {
    return !isDeepStrictEqual(JSON.parse(text), data)
  } catch {
    return true
  }
}
