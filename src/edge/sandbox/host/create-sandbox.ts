// The sandbox of one folder: a guest process for each session, started when its first prompt comes, or a little earlier. A
// guest stays for the next prompt of its session, with its servers and background jobs.
import { keepElsewhere } from "#ability/mcp/elsewhere.ts"
import type { Status } from "#ability/sandbox/sandbox.ts"
import type { Runner, Work } from "#engine/run/run.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import type * as Message from "#knowledge/message/message.ts"
import { takeGuest } from "./ahead.ts"
import type { Guest } from "./create-guest.ts"
import type { SandboxConfig } from "./policy-of.ts"

export type Sandbox = Readonly<{
  run: Runner
  /** Resolves when a guest has started: the first prompt need not wait for one. */
  ready(): Promise<void>
  /** Of the guest that was started last. */
  status(): Status | undefined
  /** Ends the guests that run no prompt, and the others after their prompts. */
  retire(): Promise<void>
  stop(): Promise<void>
}>

/** Guests that wait for the next prompt of their session. Each is a process of its own. */
const mostIdle = 4

/** Stops the guests of an instance with it, after its prompts. */
const ofInstance = Instance.state(
  () => new Set<Sandbox>(),
  (all) => Promise.all([...all].map((sandbox) => sandbox.stop())),
)

/** `timeout`: milliseconds that a prompt may run if it has no limit of its own; waiting for a person does not count. */
export function createSandbox(
  config: SandboxConfig,
  options: { directory: string; timeout: number },
): Sandbox {
  const guests = new Map<string, Guest>()
  const running = new Set<string>()
  let spare: Promise<Guest> | undefined
  let mostKept = mostIdle
  let last: Status | undefined

  async function start(): Promise<Guest> {
    // Loaded while the guest starts.
    const [guest] = await Promise.all([takeGuest(config, options.directory), import("./run-inside.ts")])
    if (!last) for (const line of guest.status.missing) Log.warn(`the sandbox: ${line}`)
    last = guest.status
    return guest
  }

  async function ready(): Promise<void> {
    if (guests.size) return
    spare ??= start()
    await spare
  }

  async function guestFor(sessionId: string): Promise<Guest> {
    const known = guests.get(sessionId)
    if (known && !known.isOver()) return known
    const next = spare ?? start()
    spare = undefined
    const guest = await next
    guests.set(sessionId, guest)
    void guest.ended.then(() => {
      if (guests.get(sessionId) === guest) guests.delete(sessionId)
    })
    return guest
  }

  async function run(work: Work, signal: AbortSignal): Promise<Message.Info> {
    ofInstance().add(sandbox)
    keepElsewhere(true)
    const { sessionId } = work
    running.add(sessionId)
    try {
      const guest = guestFor(sessionId)
      // Its error is thrown where it is waited for.
      guest.catch(() => {})
      const { runInside } = await import("./run-inside.ts")
      return await Secret.inSession(sessionId, () =>
        runInside(guest, work, { signal, timeout: work.timeout === undefined ? options.timeout : undefined }),
      )
    } finally {
      running.delete(sessionId)
      await endIdle()
    }
  }

  /** The guests that were used least recently end first. */
  async function endIdle(): Promise<void> {
    const idle = [...guests].filter(([id]) => !running.has(id))
    for (const [id, guest] of idle.slice(0, Math.max(0, idle.length - mostKept))) {
      guests.delete(id)
      await guest.stop()
    }
  }

  async function retire(): Promise<void> {
    mostKept = 0
    const waiting = await spare?.catch(() => undefined)
    spare = undefined
    await waiting?.stop()
    await endIdle()
  }

  async function stop(): Promise<void> {
    const all = [...guests.values()]
    const waiting = await spare?.catch(() => undefined)
    spare = undefined
    guests.clear()
    await Promise.all([...all, ...(waiting ? [waiting] : [])].map((guest) => guest.stop()))
  }

  const sandbox: Sandbox = Object.freeze({ run, ready, status: () => last, retire, stop })
  return sandbox
}
