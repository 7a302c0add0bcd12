// What a person sees of a run: the text on stdout as it comes, a line per tool call on stderr. Or, for programs, every
// event as one line of JSON.
import * as Permission from "#ability/permission/permission.ts"
import * as Session from "#engine/session/session.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import { createInOrder } from "#knowledge/message/in-order.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { describeAttachment } from "./describe-attachment.ts"
import { createProgressLine } from "./progress-line.ts"
import { safeText } from "./safe-text.ts"

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
  const order = createInOrder()
  let atLineStart = true
  const startLine = () => {
    if (!atLineStart) process.stdout.write("\n")
    atLineStart = true
  }
  const progress = createProgressLine(startLine)
  const endLine = () => {
    progress.clear()
    startLine()
  }
  const say = (text: string) => {
    progress.clear()
    process.stdout.write(process.stdout.isTTY ? safeText(text) : text)
    atLineStart = text.endsWith("\n")
  }
  const note = (line: string) => {
    endLine()
    process.stderr.write(`${line}\n`)
  }
  const attachments = new Map<string, string>()
  const tellAttached = (message: Message.Info) => {
    const line = describeAttachment(message)
    if (line && attachments.get(message.id) !== line) note(line)
    if (line) attachments.set(message.id, line)
  }
  const stopDeltas = Bus.subscribe(MessageStore.Delta, ({ sessionId: id, kind, parentId, text }) => {
    if (id === sessionId && kind === "text") order.add({ parentId, show: () => say(text) })
  })
  const stopMessages = Bus.subscribe(MessageStore.Created, ({ sessionId: ofSession, message }) => {
    if (ofSession !== sessionId) return
    const { id, parentId } = message
    if (message.type === "tool_request") for (const call of message.data.calls) calls.set(call.id, call)
    order.add({
      id,
      parentId,
      isFirst: message.type === "text" && message.data.role === "user",
      show() {
        if (message.type === "tool_result") note(oneLine(calls.get(message.data.requestId), message.data))
        if (message.type === "system_control") note(`· ${Session.describeControl(message.data)}`)
        tellAttached(message)
      },
    })
  })
  // One that a person was asked for, or that was read again.
  const stopAttachments = Bus.subscribe(MessageStore.Updated, ({ sessionId: id, message }) => {
    if (id === sessionId) tellAttached(message)
  })
  const stopNotices = Bus.subscribe(Session.Notice, ({ sessionId: id, text }) => {
    if (id === sessionId) note(`vitamin: ${Log.escapeControls(text)}`)
  })
  // An answer that broke off is taken back, and asked for again.
  const stopTakeBacks = Bus.subscribe(MessageStore.Updated, ({ sessionId: id, message }) => {
    if (id !== sessionId || message.type !== "text" || message.data.parts.length > 0) return
    const show = () => note("✗ the answer broke off and is asked for again")
    order.add({ parentId: message.parentId, show })
  })
  const stopQuestions = Bus.subscribe(Permission.Requested, endLine)
  // By its name: without MCP servers nothing that knows of their questions is loaded.
  const stopServers = Bus.subscribe("*", ({ type }) => {
    if (type === "elicitation.requested") endLine()
  })
  const told = new Set<string>()
  const stopChoices = Bus.subscribe(Session.ModelChosen, ({ model, text }) => {
    if (!told.has(model)) note(`vitamin: ${Log.escapeControls(text)}`)
    told.add(model)
  })
  return () => {
    stopAttachments()
    stopNotices()
    stopChoices()
    stopQuestions()
    stopServers()
    stopDeltas()
    stopMessages()
    stopTakeBacks()
    order.flush()
    progress.stop()
    startLine()
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
      : firstLine((result.error?.message ?? output).replace(/:\n(- )?/, ": "))
  const args = shortArguments(call?.arguments)
  const isRepeated = args === "" || short === args || short.startsWith(`${args} (`)
  return Log.escapeControls(
    `${mark} ${result.toolName} ${isRepeated ? "" : `${args}  `}${short}`.slice(0, 160),
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
