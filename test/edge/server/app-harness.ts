// An app without a socket for tests, with routes that echo and routes that fail.
import { join } from "node:path"
import { z } from "zod"
import { createApp } from "#edge/server/app.ts"
import { createEventStream } from "#edge/server/event/event-stream.ts"
import { defineRoute } from "#edge/server/http/route.ts"
import { createEventLog } from "#kernel/bus/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { NamedError } from "#util/error.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

export const token = "t".repeat(43)
export const auth = { authorization: `Bearer ${token}` }
export const base = "http://127.0.0.1:3141"

const echo = defineRoute({
  id: "echo-id",
  method: "POST",
  role: "reader",
  path: "/echo/:id",
  summary: "For tests",
  params: z.object({ id: z.string().max(5) }),
  query: z.object({ loud: z.coerce.boolean().optional() }),
  body: z.object({ parts: z.array(z.object({ text: z.string() })) }),
  response: z.object({ id: z.string(), parts: z.number(), directory: z.string() }),
  errors: [404],
  handle: ({ params, body }) => ({ id: params.id, parts: body.parts.length, directory: Instance.directory }),
})
const failures: Record<string, () => unknown> = {
  missing: () => Storage.read(["no", "such"]),
  busy: () => Promise.reject(new NamedError("Session.Busy", "It is busy", { sessionId: "s1" })),
  denied: () => Promise.reject(new NamedError("Permission.Denied", "Not allowed")),
  crash: () => Promise.reject(new TypeError("a secret place: /etc/hidden")),
  leak: () =>
    Promise.reject(
      new NamedError("Provider.Invalid", "key sk-held-by-us was refused", { key: "sk-held-by-us" }),
    ),
  wrong: () => 42,
}
const fail = defineRoute({
  id: "fail-how",
  method: "GET",
  role: "reader",
  path: "/fail/:how",
  summary: "For tests",
  params: z.object({ how: z.string() }),
  response: z.object({}),
  handle: async ({ params }) => (await failures[params.how]?.()) as Record<string, never>,
})

export async function setUp() {
  const tmp = await tmpdir({ git: true })
  const log = createEventLog({ directory: join(tmp.path, "events") })
  const eventStream = createEventStream({ log })
  let inits = 0
  const app = createApp({
    token,
    hosts: ["127.0.0.1:3141", "localhost:3141"],
    origins: ["http://127.0.0.1:3141"],
    directory: tmp.path,
    init: () => void inits++,
    config: () => ({ directory: Instance.directory, apiKey: "sk-held-by-us" }),
    version: "1.2.3",
    eventStream,
    routes: [echo, fail],
    bodyLimit: 5000,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    app.request(base + path, { ...init, headers: { ...auth, ...(init.headers as Record<string, string>) } })
  return {
    tmp,
    app,
    ask,
    eventStream,
    inits: () => inits,
    async [Symbol.asyncDispose]() {
      eventStream.close()
      log.close()
      await Instance.disposeAll()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

type Failure = { error: { name: string; message: string; data?: Record<string, unknown> } }
export const errorOf = async (response: Response) => ((await response.json()) as Failure).error
export type Body = string | Uint8Array<ArrayBuffer> | ReadableStream
export const json = { "content-type": "application/json" }
