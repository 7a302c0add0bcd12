// A chat-completions server that writes exactly the given bytes, for answers that no correct server sends.
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider"
import { createChatModel } from "#ability/provider/chat/chat-model.ts"
import { partsOf } from "./harness.ts"

export const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
export const delta = (fields: object) => frame({ id: "c", choices: [{ delta: fields }] })
export const calling = (...tool_calls: object[]) => delta({ tool_calls })
export const finish = (finish_reason: string) => frame({ choices: [{ delta: {}, finish_reason }] })
export const done = "data: [DONE]\n\n"

export const probe: LanguageModelV4FunctionTool = {
  type: "function",
  name: "probe",
  inputSchema: { type: "object" },
}

type Heard = { headers: Record<string, unknown>; body: Record<string, unknown> }
type Server = {
  url: string
  heard: Heard[]
  connections: () => number
  ended: () => number
} & AsyncDisposable

export async function chatServer(text: string, { stayOpen = false } = {}): Promise<Server> {
  const heard: Heard[] = []
  let [connections, ended] = [0, 0]
  const server = createServer(async (request, response) => {
    const raw: Buffer[] = []
    for await (const part of request) raw.push(part as Buffer)
    heard.push({ headers: request.headers, body: JSON.parse(Buffer.concat(raw).toString()) })
    response.writeHead(200, { "content-type": "text/event-stream" }).write(text)
    if (stayOpen) return
    response.end()
    ended++
  }).on("connection", () => connections++)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat/completions`,
    heard,
    connections: () => connections,
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

export function modelAt(url: string, providerId = "acme-ai") {
  return createChatModel({ providerId, modelId: "m", url, headers: {}, limitName: "max_tokens" })
}

/** The parts that these bytes become. */
export async function heardFrom(text: string): Promise<LanguageModelV4StreamPart[]> {
  await using server = await chatServer(text)
  return await partsOf(modelAt(server.url))
}

/** The request body that is sent for these options. */
export async function bodyOf(options: LanguageModelV4CallOptions): Promise<Record<string, unknown>> {
  await using server = await chatServer(finish("stop") + done)
  await partsOf(modelAt(server.url), options)
  return server.heard[0]!.body
}
