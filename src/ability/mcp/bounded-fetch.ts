// Fetch for servers over http: an answer, or one event of a stream, never takes more than a message may, and a login
// leads nowhere that the server's own address could not.
import { isIP } from "node:net"
import { isPublic } from "#ability/tool/check-url.ts"
import { InvalidServer } from "./errors.ts"
import { messageLimit } from "./stdio-transport.ts"
import type { MCPServerConfig } from "./types.ts"

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const eventEnds = ["\n\n", "\n\r\n", "\r\r"]

export function createBoundedFetch(server: MCPServerConfig): Fetch {
  const own = new URL(server.url!)
  return async (url, init) => {
    const target = new URL(url)
    if (target.origin !== own.origin) checkForeign({ server, own, target })
    const response = await fetch(target, init)
    if (!response.body) return response
    const events = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
    const body = response.body.pipeThrough(limit({ server, events }))
    const bounded = new Response(body, response)
    Object.defineProperty(bounded, "url", { value: response.url })
    return bounded
  }
}

/** The addresses of a login come from the server: they must not lead into this machine or its network. */
function checkForeign({ server, own, target }: { server: MCPServerConfig; own: URL; target: URL }) {
  if (isLocal(own)) return
  const host = target.hostname.replace(/^\[(.*)\]$/, "$1")
  if (target.protocol !== "https:")
    throw new InvalidServer(server, `its login leads to ${target.origin}, which is not https`)
  if (isLocal(target) || (isIP(host) && !isPublic(host)))
    throw new InvalidServer(
      server,
      `its login leads to ${target.origin}, which is not on the public internet`,
    )
}

function isLocal(url: URL): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])\.?$/.test(url.hostname)
}

/** Counts a whole answer, or what came since the last event of a stream began: its lines are held until it ends. */
function limit({ server, events }: { server: MCPServerConfig; events: boolean }) {
  let bytes = 0
  let tail = Buffer.alloc(0)
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const seen = Buffer.concat([tail, chunk])
      const end = events ? lastEnd(seen) : -1
      bytes = end < 0 ? bytes + chunk.length : seen.length - end
      tail = Buffer.from(seen.subarray(-2))
      if (bytes > messageLimit)
        controller.error(new InvalidServer(server, `it sent a message of more than ${messageLimit} bytes`))
      else controller.enqueue(chunk)
    },
  })
}

/** Where the last event that is whole ends; -1 where none is. */
function lastEnd(bytes: Buffer): number {
  const ends = eventEnds.map((end) => {
    const at = bytes.lastIndexOf(end)
    return at < 0 ? -1 : at + end.length
  })
  return Math.max(...ends)
}
