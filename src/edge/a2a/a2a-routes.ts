// The A2A server as routes of the HTTP server, with its token, Host and Origin checks and limits. The agent card needs no
// token. Faults of a request are answered with the errors of JSON-RPC and of the protocol.
import { A2A_VERSION_HEADER, AGENT_CARD_PATH, AgentCard } from "@a2a-js/sdk"
import {
  A2A_ERROR_CODE,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  toJsonRpcError,
} from "@a2a-js/sdk/errors"
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from "@a2a-js/sdk/server"
import { z } from "zod"
import { defineHttpRoute, jsonResponse, type Route, readBody } from "#edge/server/define-route.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { hashText } from "#util/hash-text.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { agentCard } from "./agent-card.ts"
import { createRequestHandler } from "./request-handler.ts"
import { streamResponse } from "./stream-response.ts"
import type { Serving } from "./task-changes.ts"

/** Runs a function in the instance of the served folder. */
type Inside = <T>(fn: () => Promise<T>) => Promise<T>
type Rpc = { id?: string | number | null; method: string; params?: unknown }

const path = "/a2a"
const bodyLimit = 10 << 20
const binding = "JSONRPC"

const Request = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.int()]).nullable().optional(),
  method: z.string().min(1),
})
/** What the SDK's parser takes for granted. */
const Params = z.looseObject({
  message: z.looseObject({ parts: z.array(z.looseObject({})).optional() }).optional(),
  configuration: z.looseObject({ taskPushNotificationConfig: z.looseObject({}).optional() }).optional(),
  tenant: z.string().optional(),
})

class Fault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function createA2ARoutes(serving: Serving, inside: Inside): Route[] {
  const handlerAt = (origin: string) => createRequestHandler(serving, () => origin + path)

  async function answer(
    text: string,
    { origin, version, signal }: { origin: string; version: string; signal: AbortSignal },
  ): Promise<Response> {
    let id: Rpc["id"] = null
    try {
      const request = parse(text)
      id = request.id ?? null
      checkParams(request)
      const requests = handlerAt(origin)
      validateVersion(version, await requests.getAgentCard(), binding)
      const context = new ServerCallContext({
        requestedVersion: version,
        state: new Map([["signal", signal]]),
      })
      const result = await new JsonRpcTransportHandler(requests).handle(request, context)
      if (!(Symbol.asyncIterator in result)) return jsonResponse(result)
      // Errors before the first event are an ordinary response.
      const first = await result.next()
      return streamResponse(first, result, signal)
    } catch (error) {
      return jsonResponse({ jsonrpc: "2.0", id, error: errorOf(error) })
    }
  }

  return [
    defineHttpRoute({
      id: "getAgentCard",
      method: "GET",
      role: "open",
      path: `/${AGENT_CARD_PATH}`,
      summary: "The A2A agent card.",
      response: z.unknown(),
      instance: false,
      respond(_, { at }) {
        const card = AgentCard.toJSON(
          agentCard({ agents: serving.agent.capabilities(), url: at!.origin + path }),
        )
        const etag = `"${hashText(JSON.stringify(card))}"`
        return jsonResponse(card, { headers: { "cache-control": "private, max-age=60", etag } })
      },
    }),
    defineHttpRoute({
      id: "callA2A",
      method: "POST",
      role: "member",
      path,
      summary: "The Agent2Agent protocol 1.0, JSON-RPC binding.",
      response: z.unknown(),
      contentType: "application/json",
      instance: false,
      ownBody: true,
      async respond(c, { at }) {
        const type = c.req.header("content-type") ?? ""
        if (!/^application\/json *(;|$)/i.test(type)) {
          const error = toJsonRpcError(
            new ContentTypeNotSupportedError(`A request is application/json, not ${JSON.stringify(type)}.`),
          )
          return jsonResponse({ jsonrpc: "2.0", id: null, error }, { status: 415 })
        }
        const text = (await readBody(c, bodyLimit)).toString()
        const left = new AbortController()
        c.env?.outgoing?.once("close", () => left.abort())
        // Without a version a client speaks 0.3. The third number of a version does not count.
        const version = (c.req.header(A2A_VERSION_HEADER) || "0.3").trim().replace(/^(\d+\.\d+)\.\d+$/, "$1")
        return inside(() => answer(text, { origin: at!.origin, version, signal: left.signal }))
      },
    }),
  ]
}

function parse(text: string): Rpc & Record<string, unknown> {
  let value: unknown
  try {
    if (isTooDeep(text)) throw new Error("it is nested deeper than 100 levels")
    value = JSON.parse(text)
  } catch (error) {
    throw new Fault(A2A_ERROR_CODE.PARSE_ERROR, `The request is not JSON: ${errorText(error)}`)
  }
  const request = Request.safeParse(value)
  if (!request.success)
    throw new Fault(
      A2A_ERROR_CODE.INVALID_REQUEST,
      `This is not a request of JSON-RPC 2.0: ${reasonOf(request.error)}`,
    )
  return request.data as Rpc & Record<string, unknown>
}

/** After the id is known, so that the client can match the error with its request. */
function checkParams({ params }: Rpc): void {
  const checked = Params.safeParse(params ?? {})
  if (!checked.success) throw new RequestMalformedError(`params: ${reasonOf(checked.error)}`)
}

function errorOf(error: unknown): { code: number; message: string } {
  if (error instanceof Fault) return { code: error.code, message: error.message }
  const found = toJsonRpcError(error)
  if (found.code === A2A_ERROR_CODE.INTERNAL_ERROR) Log.error("an A2A request failed", { error })
  return found
}

function reasonOf(error: z.ZodError): string {
  return z.prettifyError(error).replace(/\s+/g, " ").trim().slice(0, 500)
}
