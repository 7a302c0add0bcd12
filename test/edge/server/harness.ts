// A server on a real socket for tests, requests as raw bytes, and a client of the event stream that records frames.
import { readFileSync } from "node:fs"
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { z } from "zod"
import { createServer, type ServerOptions } from "#edge/server/server.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"

export const Tick = Bus.define("test.tick", z.object({ n: z.number(), text: z.string().optional() }))
export const Live = Bus.define("test.live", z.object({ n: z.number() }), { live: true })

export type Frame = { id?: number; event: string; data: string; n?: number }

export async function startServer(directory: string, options: Partial<ServerOptions> = {}) {
  const server = await createServer({
    port: 0,
    directory,
    config: async () => ({ provider: { default: "test" } }),
    version: "1.2.3",
    ...options,
  })
  const token = readFileSync(server.tokenFile, "utf8").trim()
  const auth = { authorization: `Bearer ${token}` }
  return {
    ...server,
    token,
    auth,
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(server.url + path, { headers: { ...auth, ...headers } }),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await Instance.disposeAll()
    },
  }
}

export function publish(directory: string, numbers: Iterable<number>, text?: string): Promise<void> {
  return Instance.provide({
    directory,
    fn: () => {
      for (const n of numbers) Bus.publish(Tick, text === undefined ? { n } : { n, text })
    },
  })
}

/** Sends bytes; returns what comes back until the response is complete, or the other side closes or falls silent. */
export function raw(port: number, bytes: string | Buffer, { quiet = 300 } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("latin1")
  socket.on("data", (part) => {
    text += part
    const head =
      /^(?:HTTP\/1\.1 100 .*\r\n\r\n)?HTTP(?:.+\r\n)*?content-length: (\d+)\r\n(?:.+\r\n)*\r\n/i.exec(text)
    if (head && text.length >= head[0].length + Number(head[1])) return socket.destroy()
    socket.setTimeout(quiet, () => socket.destroy())
  })
  socket.on("error", () => {})
  socket.on("close", () => resolve(text))
  socket.write(bytes)
  return promise
}

export function status(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])
}

/** A client of GET /event. `drop` destroys its connection. */
export function follow(server: { url: string; token: string }, headers: Record<string, string> = {}) {
  const frames: Frame[] = []
  const opened = Promise.withResolvers<IncomingMessage>()
  const closed = Promise.withResolvers<void>()
  let text = ""
  let comments = 0
  let cursor: number | undefined
  const call: ClientRequest = request(
    `${server.url}/event`,
    { headers: { authorization: `Bearer ${server.token}`, ...headers }, agent: false },
    (response) => {
      opened.resolve(response)
      response.setEncoding("utf8")
      response.on("data", (part: string) => {
        const blocks = (text + part).split("\n\n")
        text = blocks.pop() ?? ""
        for (const block of blocks) {
          if (block.startsWith(":")) comments++
          cursor = Number(/^id: (\d+)$/m.exec(block)?.[1] ?? cursor) || undefined
          const frame = parseFrame(block)
          if (frame) frames.push(frame)
        }
      })
      response.on("error", () => {})
      response.on("close", () => closed.resolve())
    },
  )
  call.on("error", () => closed.resolve())
  call.end()
  return {
    frames,
    opened: opened.promise,
    closed: closed.promise,
    comments: () => comments,
    /** The Last-Event-ID that a browser would send: an id counts even in a block without an event. */
    cursor: () => cursor,
    numbers: () => frames.flatMap(({ n }) => (n === undefined ? [] : [n])),
    lastId: () => frames.findLast(({ id }) => id !== undefined)?.id,
    drop: () => void call.destroy(),
  }
}

export function parseFrame(block: string): Frame | undefined {
  const fields = new Map(
    block.split("\n").map((line) => [line.split(":")[0]!, line.slice(line.indexOf(":") + 2)]),
  )
  const data = fields.get("data")
  if (data === undefined) return undefined
  const id = fields.get("id")
  const n = JSON.parse(data).payload?.n
  return {
    ...(id ? { id: Number(id) } : {}),
    event: fields.get("event") ?? "",
    data,
    ...(n === undefined ? {} : { n }),
  }
}

/** The number of open event streams that the server reports. */
export async function clientsOf(server: { get(path: string): Promise<Response> }): Promise<number> {
  const info = (await (await server.get("/info")).json()) as { clients: number }
  return info.clients
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
