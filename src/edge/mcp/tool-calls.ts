// The calls that clients make, in a session of their own that begins with the first of them: there they are kept, with
// their snapshots and what they printed. All that is still at work ends with the instance.
import * as Provider from "#ability/provider/provider.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"

type Calls = {
  session?: Promise<Session.Info> | undefined
  /** The last message of the session. */
  last: string | null
  /** What changes something waits for what does so already. */
  turn: Promise<unknown>
  running: Set<Promise<unknown>>
  end: AbortController
}

const calls = Instance.state<Calls>(
  () => ({ last: null, turn: Promise.resolve(), running: new Set(), end: new AbortController() }),
  async ({ running, end }) => {
    end.abort()
    await Promise.allSettled(running)
  },
  { isWork: true },
)

/** The session, made by whoever comes first. */
export function session(agent: string): Promise<Session.Info> {
  const own = calls()
  if (own.session) return own.session
  Provider.redactKeys()
  const made = Session.create({ agent, title: "Tools for MCP clients" })
  own.session = made
  made.catch(() => {
    own.session = undefined
  })
  return made
}

/** A message of the session, behind the one before. */
export function next<T extends Message.Type>(
  fields: Pick<Message.Of<T>, "sessionId" | "branch" | "type" | "data"> & { type: T },
): Message.Of<T> {
  const own = calls()
  const message = Message.make<T>({ ...fields, parentId: own.last })
  own.last = message.id
  return message
}

/** Do the work of one call, which ends early when its client or the instance does. */
export async function run<T>(
  options: { signal: AbortSignal; readsOnly: boolean },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = calls()
  const signal = AbortSignal.any([options.signal, own.end.signal])
  const before = options.readsOnly ? undefined : own.turn
  const done = Promise.allSettled([before]).then(() => work(signal))
  if (!options.readsOnly) own.turn = done
  own.running.add(done)
  const release = Instance.hold()
  try {
    return await done
  } finally {
    release()
    own.running.delete(done)
  }
}
