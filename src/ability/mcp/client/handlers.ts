// Answers the requests of a server. Every capability that we announce has its handler here.
import { pathToFileURL } from "node:url"
import type { Client, ClientCapabilities } from "@modelcontextprotocol/client"
import type { Elicitation, MCPClientConfig, MCPLog } from "#ability/mcp/server/types.ts"
import { safeLine } from "#ability/mcp/transport/stdio-transport.ts"

export function capabilitiesOf(config: MCPClientConfig): ClientCapabilities {
  return {
    elicitation: { form: { applyDefaults: true }, url: {} },
    ...(config.roots ? { roots: { listChanged: false } } : {}),
    ...(config.features?.sampling && config.onSample ? { sampling: {} } : {}),
  }
}

/** `asking` runs a question to a person; the wait for the reply does not count against the timeout of the call. It
 * resolves to undefined if too many questions are open. */
export function answerServer(options: {
  client: Client
  config: MCPClientConfig
  asking: <T>(question: () => Promise<T>) => Promise<T | undefined>
  onLog: (log: MCPLog) => void
}): void {
  const { client, config, asking, onLog } = options
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const request = elicitationOf(params)
    const reply = request ? await asking(async () => config.onElicit?.(request)) : undefined
    if (!reply) return { action: "decline" }
    return reply.action === "accept" && params.mode !== "url"
      ? { action: "accept", content: reply.content ?? {} }
      : { action: reply.action }
  })
  if (config.roots) {
    const roots = config.roots.map((path) => ({ uri: pathToFileURL(path).href }))
    client.setRequestHandler("roots/list", async () => ({ roots }))
  }
  const { onSample } = config
  if (config.features?.sampling && onSample)
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const sample = await asking(() => onSample({ ...params }))
      if (!sample) throw new Error("too many requests of this server are open")
      const { model, role, content, stopReason } = sample
      return { model, role, content: content as never, ...(stopReason ? { stopReason } : {}) }
    })
  client.setNotificationHandler("notifications/message", ({ params }) => {
    const text = typeof params.data === "string" ? params.data : JSON.stringify(params.data)
    onLog({
      level: levelOf(params.level),
      source: "server",
      message: safeLine(text ?? ""),
      data: params.data,
    })
  })
}

/** Undefined for a URL that is not http or https: it is not shown to anybody. */
function elicitationOf(params: { mode?: string; message: string }): Elicitation | undefined {
  const { message } = params
  if (params.mode === "url") {
    const { url = "" } = params as { url?: string }
    return /^https?:/i.test(url) && URL.canParse(url) ? { mode: "url", message, url } : undefined
  }
  const schema = (params as { requestedSchema?: Record<string, unknown> }).requestedSchema ?? {}
  return { mode: "form", message, schema }
}

function levelOf(level: string): MCPLog["level"] {
  if (level === "debug" || level === "info" || level === "warning") return level
  return level === "notice" ? "info" : "error"
}
