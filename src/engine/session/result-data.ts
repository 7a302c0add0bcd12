// What is stored of a call's result, for calls of a model and of clients of `vitamin mcp serve`.
import type { runTool } from "#ability/tool/run-tool.ts"
import type * as Message from "#knowledge/message/message.ts"

export function resultData(
  call: { id: string; name: string },
  result: Awaited<ReturnType<typeof runTool>>,
): Message.Of<"tool_result">["data"] {
  const { status, text, data, title, error, duration } = result
  return {
    requestId: call.id,
    toolName: call.name,
    status,
    output: text,
    ...(error ? { error } : {}),
    duration,
    timestamp: Date.now(),
    metadata: { ...(title ? { title } : {}), ...(data === undefined ? {} : { data }) },
  }
}
