// The tool calls of MCP clients are recorded in a session of their own, with their snapshots and outputs. The first call
// creates the session. Running calls are aborted when the instance is disposed.
import * as Provider from "#ability/provider/provider.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"

type Calls = {
  session?: Promise<Session.Info> | undefined
  /** The id of the session's last message. */
  last: string | null
  /** Calls that change something run one after the other: each waits for this one. */
  lastWrite: Promise<unknown>
  running: Set<Promise<unknown>>
  end: AbortController
}

const calls = Instance.state<Calls>(
  () => ({ last: null, lastWrite: Promise.resolve(), running: new Set(), end: new AbortController() }),
  async ({ running, end }) => {
    end.abort()
    await Promise.allSettled(running)
  },
  { isWork: true },
)

/** The session of the calls; the first call creates it. */
export function session(agent: string): Promise<Session.Info> {
  const own = calls()
  if (own.session) return own.session
  Provider.redactKeys()
  const created = Session.create({ agent, title: "Tools for MCP clients" })
  own.session = created
  created.catch(() => {
    own.session = undefined
  })
  return created
}

/** A new message whose parent is the session's last message. */
export function next<T extends Message.Type>(
  fields: Pick<Message.Of<T>, "sessionId" | "branch" | "type" | "data"> & { type: T },
): Message.Of<T> {
  const own = calls()
  const message = Message.make<T>({ ...fields, parentId: own.last })
  own.last = message.id
  return message
}

/** Run one call. Its signal is aborted when the client cancels or the instance is disposed. */
export async function run<T>(
  options: { signal: AbortSignal; readsOnly: boolean },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = calls()
  const signal = AbortSignal.any([options.signal, own.end.signal])
  const before = options.readsOnly ? undefined : own.lastWrite
  const done = Promise.allSettled([before]).then(() => work(signal))
  if (!options.readsOnly) own.lastWrite = done
  own.running.add(done)
  const release = Instance.hold()
  try {
    return await done
  } finally {
    release()
    own.running.delete(done)
  }
}
