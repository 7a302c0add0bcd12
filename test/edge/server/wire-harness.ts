// A server on a real socket for raw bytes, with a route that takes a body and one that waits.
import { z } from "zod"
import { defineRoute } from "#edge/server/http/route.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { raw, startServer } from "./harness.ts"

const size = defineRoute({
  id: "size",
  method: "POST",
  role: "reader",
  path: "/size",
  summary: "For tests",
  body: z.object({ text: z.string() }),
  response: z.object({ size: z.number() }),
  instance: false,
  handle: ({ body }) => ({ size: body.text.length }),
})
/** Finishes the running request to /slow. */
export const running = { release: () => {} }
const slow = defineRoute({
  id: "slow",
  method: "GET",
  role: "reader",
  path: "/slow",
  summary: "For tests",
  response: z.object({ done: z.boolean() }),
  instance: false,
  handle: () =>
    new Promise<{ done: boolean }>((resolve) => (running.release = () => resolve({ done: true }))),
})

export async function setUp(options: Parameters<typeof startServer>[1] = {}) {
  const tmp = await tmpdir()
  const server = await startServer(tmp.path, { routes: [size, slow], ...options })
  const own = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`
  return {
    ...server,
    own,
    tmp,
    send: (head: string, body: string | Buffer = "") =>
      raw(server.port, Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), Buffer.from(body)])),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

export function errorIn(answer: string): { name: string; message: string } {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4)
  return JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? "{}").error
}
