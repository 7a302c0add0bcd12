// Records the requests of an ACP connection in the audit log, each with the session that it names and its result.
import type { WebSocket } from "ws"
import type { Person } from "#kernel/person.ts"
import type { Audit } from "./audit.ts"

type Rpc = { id?: unknown; method?: string; params?: { sessionId?: unknown; cwd?: unknown }; error?: unknown }

const maxOpen = 1_000

/** The socket of a person with its messages noted; that of the owner as it is. */
export function auditSocket(
  socket: WebSocket,
  { person, audit }: { person: Person | undefined; audit: Audit },
): WebSocket {
  if (!person) return socket
  const open = new Map<unknown, { action: string; target: string }>()
  const note = (one: { action: string; target: string }, result: string) =>
    void audit.record({ person, ...one, result })
  socket.on("message", (data, isBinary) => {
    const { id, method, params } = isBinary ? {} : parse(String(data))
    if (typeof method !== "string") return
    const { sessionId, cwd } = params ?? {}
    const one = { action: `acp ${method}`.slice(0, 100), target: String(sessionId ?? cwd ?? "") }
    if (id === undefined) return note(one, "ok")
    if (open.size < maxOpen) open.set(id, one)
  })
  const send = socket.send.bind(socket) as (text: string, done?: () => void) => void
  socket.send = ((text: string, done?: () => void) => {
    // Most messages are updates, which have no id. Questions have a method.
    const isAnswer = open.size > 0 && text.slice(0, 100).includes('"id"')
    const { id, method, error } = isAnswer ? parse(text) : {}
    const one = method === undefined ? open.get(id) : undefined
    if (one && open.delete(id)) note(one, error ? "failed" : "ok")
    send(text, done)
  }) as WebSocket["send"]
  return socket
}

function parse(text: string): Rpc {
  try {
    return (JSON.parse(text) ?? {}) as Rpc
  } catch {
    return {}
  }
}
