// A layer between the SDK and a transport: hooks of the host see and change messages, the number of pages of lists is
// bounded, and list entries of the wrong shape are removed, so that the SDK does not refuse the whole list.
import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client"
import type { MCPHooks, MCPLog } from "#ability/mcp/server/types.ts"
import { wrongAnswer } from "#ability/mcp/transport/stdio-transport.ts"
import { errorText } from "#util/error.ts"
import { cleanList, isListMethod, type ListMethod } from "./lists.ts"

/** The state of one walk through the pages of a list. */
type Walk = { pages: number; names: Set<string>; size: number }
type Message = { id?: number | string; method?: string; params?: object; result?: object; error?: object }

const maxPages = 100
const maxItems = 10_000
/** Characters of all pages of a list together, as JSON. */
const maxSize = 32 << 20

export function withCallHooks<T extends Transport>(options: {
  transport: T
  hooks: MCPHooks
  onLog: (log: MCPLog) => void
}): Transport {
  const { transport: inner, hooks, onLog } = options
  const methods = new Map<number | string, string>()
  const open = new Set<number | string>()
  const walks = new Map<ListMethod, Walk>()
  const warn = (message: string) => onLog({ level: "warning", source: "client", message })

  const note = ({ id, method, params }: Message) => {
    if (method === "notifications/cancelled") methods.delete((params as { requestId: number }).requestId)
    if (id === undefined || method === undefined) return
    const isList = isListMethod(method)
    if (hooks.onResponse || isList) methods.set(id, method)
    if (isList && !(params as { cursor?: string } | undefined)?.cursor)
      walks.set(method, { pages: 0, names: new Set(), size: 0 })
  }
  const change = async (message: Message): Promise<Message> => {
    if (!hooks.onRequest || message.id === undefined || message.method === undefined) return message
    const { method, params } = message
    return { ...message, params: (await hooks.onRequest({ method, params: { ...params } })).params }
  }

  const incoming = async (method: string, message: Message): Promise<Message> => {
    let result = message.result as Record<string, unknown> | undefined
    if (!result) return message
    if (isListMethod(method)) result = await page(method, result)
    if (hooks.onResponse) result = (await hooks.onResponse({ method, result })).result
    return { ...message, result }
  }

  const page = async (method: ListMethod, result: Record<string, unknown>) => {
    const walk = walks.get(method) ?? { pages: 0, names: new Set<string>(), size: 0 }
    walk.pages++
    walk.size += sizeOf(result)
    const list = cleanList({ method, result, names: walk.names, room: maxItems, warn })
    const { nextCursor: cursor, ...rest } = list
    if (typeof cursor !== "string" || !cursor) return rest
    const full = walk.pages >= maxPages || walk.names.size >= maxItems || walk.size >= maxSize
    if (full)
      warn(`${method} does not end: only ${walk.names.size} entries on ${walk.pages} pages were taken`)
    return !full && ((await hooks.onPaginate?.(cursor)) ?? true) ? list : rest
  }

  /** Over http each answer has a stream of its own. If the stream ends without an answer, the call fails at once. */
  const untilStreamEnds = ({ id, method }: Message, given: TransportSendOptions = {}) => {
    if (id === undefined || method === undefined) return given
    open.add(id)
    const onRequestStreamEnd = () => {
      given.onRequestStreamEnd?.()
      if (open.delete(id)) outer.onmessage?.(refusal(id, "the connection ended before the answer"))
    }
    return { ...given, onRequestStreamEnd }
  }

  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send(message, given) {
      note(message as Message)
      const sendOptions = inner.hasPerRequestStream ? untilStreamEnds(message as Message, given) : given
      const sent = hooks.onRequest
        ? change(message as Message).then((changed) => inner.send(changed as JSONRPCMessage, sendOptions))
        : inner.send(message, sendOptions)
      if (sendOptions !== given) sent.catch(() => open.delete((message as { id: number }).id))
      return sent
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    ...(inner.hasPerRequestStream ? { hasPerRequestStream: true } : {}),
  }
  Object.defineProperty(outer, "sessionId", { get: () => inner.sessionId })
  if ("pid" in inner) Object.assign(outer, { pid: inner.pid, stderr: null })

  inner.onclose = () => outer.onclose?.()
  inner.onerror = (error) => outer.onerror?.(error)
  // The SDK handles notifications a moment later than answers, and would lose the last progress of a call.
  let progressed = false
  inner.onmessage = (message, extra) => {
    const { id, method } = message as Message
    if (method === "notifications/progress" && !progressed) {
      progressed = true
      setImmediate(() => {
        progressed = false
      })
    }
    const isAnswer = id !== undefined && method === undefined
    if (isAnswer) open.delete(id)
    const asked = isAnswer ? methods.get(id) : undefined
    if (asked === undefined) {
      if (isAnswer && progressed) setImmediate(() => outer.onmessage?.(message, extra))
      else outer.onmessage?.(message, extra)
      return
    }
    methods.delete(id!)
    incoming(asked, message as Message).then(
      (changed) => outer.onmessage?.(changed as JSONRPCMessage, extra),
      (error) => outer.onmessage?.(refusal(id!, `a hook failed: ${errorText(error)}`), extra),
    )
  }
  return outer
}

function refusal(id: number | string, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: wrongAnswer, message } }
}

/** The approximate length as JSON. `JSON.stringify` would overflow the stack if a list is nested too deep. */
function sizeOf(value: unknown): number {
  let size = 0
  for (let level = [value]; level.length; ) {
    const below: unknown[] = []
    for (const one of level) {
      size += typeof one === "string" ? one.length : 8
      if (typeof one === "object" && one !== null) for (const child of Object.values(one)) below.push(child)
    }
    level = below
  }
  return size
}
