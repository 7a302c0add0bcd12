// Logins that a client began, one for each name: the person signs in with a browser, whose redirect comes to this machine.
// An outcome is kept until the next login of that name.
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import { about } from "#util/about.ts"
import { errorText } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"

export const LoginStarted = z.object({
  url: about(
    "The address to open in a browser. Without it nothing is to be opened, and the login has ended.",
    z.string().optional(),
  ),
})
export type LoginStarted = z.infer<typeof LoginStarted>

export const LoginOutcome = z.object({
  state: about("`waiting`: the person has not signed in yet.", z.enum(["waiting", "done", "failed"])),
  error: about("Why it failed.", z.string().optional()),
})
export type LoginOutcome = z.infer<typeof LoginOutcome>

/** `onUrl` is called with the address to open. */
type SignIn<T> = (given: { onUrl(url: string): void; signal: AbortSignal }) => Promise<T>
type Login<T> = { stop: AbortController; ended: Promise<void>; outcome: LoginOutcome & Partial<T> }

/** Milliseconds of one wait, less than any client waits for an answer. */
const longestWait = 20_000

/** `T`: what a login that is done tells. */
export function createLogins<T extends object>() {
  const logins = Instance.state(
    () => new Map<string, Login<T>>(),
    async (all) => {
      for (const { stop } of all.values()) stop.abort(new Error("The server ends."))
      await Promise.all([...all.values()].map(({ ended }) => ended))
    },
  )

  /** Begins a login, in place of one that still waits. */
  async function start(name: string, signIn: SignIn<T>): Promise<LoginStarted> {
    await cancel(name)
    const stop = new AbortController()
    const { promise: opened, resolve } = Promise.withResolvers<string | undefined>()
    const own: Login<T> = { stop, ended: Promise.resolve(), outcome: waiting() }
    own.ended = signIn({ onUrl: resolve, signal: stop.signal })
      .then((told) => ({ state: "done" as const, ...told }))
      .catch((error) => ({ ...waiting(), state: "failed" as const, error: errorText(error) }))
      .then((outcome) => {
        own.outcome = outcome
        resolve(undefined)
      })
    logins().set(name, own)
    const url = await opened
    return url === undefined ? {} : { url }
  }

  /** The outcome as soon as there is one, or `waiting` after a while: then it is asked for again. Undefined if no login was
   * begun. */
  async function wait(name: string): Promise<(LoginOutcome & Partial<T>) | undefined> {
    const own = logins().get(name)
    if (own) await waitAtMost(longestWait, own.ended)
    return own?.outcome
  }

  /** Returns whether one was waiting. */
  async function cancel(name: string): Promise<boolean> {
    const own = logins().get(name)
    if (own?.outcome.state !== "waiting") return false
    own.stop.abort(new Error("The login was stopped."))
    await own.ended
    return true
  }

  function waiting(): LoginOutcome & Partial<T> {
    return { state: "waiting" } as LoginOutcome & Partial<T>
  }

  return Object.freeze({ start, wait, cancel })
}
