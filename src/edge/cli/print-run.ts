// What a person sees of a run: the text on stdout as it comes, a line per tool call on stderr. Or, for programs, every
// event as one line of JSON.
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"

type Call = Extract<Message.Info, { type: "tool_request" }>["data"]["calls"][number]

/** Print what happens in a session until the returned function is called. */
export function printRun(sessionId: string, format: "text" | "json"): () => void {
  return format === "json" ? printEvents() : printText(sessionId)
}

function printEvents(): () => void {
  return Bus.subscribe("*", (event) => void process.stdout.write(`${JSON.stringify(event)}\n`))
}

function printText(sessionId: string): () => void {
  const calls = new Map<string, Call>()
  let atLineStart = true
  const endLine = () => {
    if (!atLineStart) process.stdout.write("\n")
    atLineStart = true
  }
  const stopDeltas = Bus.subscribe(MessageStore.Delta, (delta) => {
    if (delta.sessionId !== sessionId || delta.kind !== "text") return
    process.stdout.write(delta.text)
    atLineStart = delta.text.endsWith("\n")
  })
  const stopMessages = Bus.subscribe(MessageStore.Created, ({ sessionId: id, message }) => {
    if (id !== sessionId) return
    if (message.type === "tool_request") for (const call of message.data.calls) calls.set(call.id, call)
    if (message.type !== "tool_result") return
    endLine()
    process.stderr.write(`${oneLine(calls.get(message.data.requestId), message.data)}\n`)
  })
  // An answer that broke off is taken back, and asked for again.
  const stopTakeBacks = Bus.subscribe(MessageStore.Updated, ({ sessionId: id, message }) => {
    if (id !== sessionId || message.type !== "text" || message.data.parts.length > 0) return
    endLine()
    process.stderr.write("✗ the answer broke off and is asked for again\n")
  })
  return () => {
    stopDeltas()
    stopMessages()
    stopTakeBacks()
    endLine()
  }
}

/** `· read src/app.ts  50 lines` */
function oneLine(
  call: Call | undefined,
  result: Extract<Message.Info, { type: "tool_result" }>["data"],
): string {
  const mark = result.status === "success" ? "·" : "✗"
  const output = typeof result.output === "string" ? result.output : JSON.stringify(result.output)
  const title = result.metadata?.title
  const short =
    result.status === "success"
      ? typeof title === "string"
        ? title
        : firstLine(output)
      : firstLine(result.error?.message ?? output)
  return Log.escapeControls(
    `${mark} ${result.toolName} ${shortArguments(call?.arguments)}  ${short}`.slice(0, 160),
  )
}

function shortArguments(args: unknown): string {
  if (typeof args !== "object" || args === null) return ""
  return Object.values(args)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ")
    .slice(0, 80)
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.slice(0, 80)
}
