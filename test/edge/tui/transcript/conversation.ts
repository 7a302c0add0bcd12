// Events of a session for tests, in the shape in which the server sends them.
import type { Message, StreamEvent } from "#client/client.ts"
import type { View } from "#edge/tui/screen/line.ts"
import { createTranscript } from "#edge/tui/transcript/transcript.ts"

export const plain: View["paint"] = (_, text) => text

export function createConversation(size: { columns?: number; rows?: number; paint?: View["paint"] } = {}) {
  const view: View = { columns: 60, rows: 24, paint: plain, expandKey: "ctrl+o", ...size }
  const transcript = createTranscript(() => view)
  const printed: string[] = []
  let last: string | null = null
  let count = 0

  function send(type: string, payload: object, time = 0): void {
    transcript.apply({
      type,
      payload: { sessionId: "s", ...payload },
      time,
      directory: "/",
      id: ++count,
    } as StreamEvent)
    printed.push(...transcript.take())
  }

  function message(type: string, data: object, more: object = {}): Message {
    const parentId = last
    last = `m${++count}`
    return {
      id: last,
      sessionId: "s",
      parentId,
      branch: "main",
      time: 0,
      schema: 1,
      type,
      data,
      ...more,
    } as Message
  }

  const store = (one: Message) => send("message.created", { message: one })
  const say = (role: string, text: string) =>
    store(
      message("text", {
        role,
        parts: [{ type: "text", text }],
        ...(role === "assistant" ? { finish: "stop" } : {}),
      }),
    )

  /** Deltas of an answer; `end` stores it. */
  function answer(...chunks: (string | { reasoning: string; time?: number })[]) {
    const parentId = last
    const stored = message("text", { role: "assistant", parts: [], finish: "stop" }) as Extract<
      Message,
      { type: "text" }
    >
    for (const chunk of chunks) {
      const [kind, text] =
        typeof chunk === "string" ? (["text", chunk] as const) : (["reasoning", chunk.reasoning] as const)
      stored.data.parts.push({ type: kind, text })
      const delta = { messageId: stored.id, parentId, kind, text }
      send("message.delta", delta, typeof chunk === "string" ? 0 : chunk.time)
    }
    return { stored, end: () => store(stored) }
  }

  const call = (...calls: { id: string; name: string; arguments?: object }[]) =>
    store(
      message("tool_request", {
        calls: calls.map((one) => ({ arguments: {}, approval: "approved", ...one })),
      }),
    )
  const result = (requestId: string, data: object) =>
    store(
      message("tool_result", {
        requestId,
        toolName: "",
        status: "success",
        output: "",
        duration: 0,
        timestamp: 0,
        ...data,
      }),
    )

  return {
    transcript,
    printed,
    send,
    message,
    store,
    say,
    answer,
    call,
    result,
    tail: (rows = 20) => transcript.tail(rows),
  }
}
