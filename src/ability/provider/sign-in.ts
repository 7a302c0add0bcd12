// Signing in at a provider that gives keys to programs on the person's machine: the person agrees on a page of the provider,
// which sends the browser back to this machine with a code, and the code is exchanged for a key. OAuth with PKCE.
import { createHash, randomBytes } from "node:crypto"
import { z } from "zod"
import { connect, entryOf, settingsOf } from "#ability/provider/reach/connection.ts"
import { createProviderFetch } from "#ability/provider/reach/provider-fetch.ts"
import * as Config from "#kernel/config/config.ts"
import { createLogins, type LoginOutcome, type LoginStarted } from "#kernel/login/create-logins.ts"
import { openCallback } from "#kernel/login/open-callback.ts"
import { NamedError } from "#util/error.ts"
import { fetchFailure } from "#util/fetch-bytes.ts"
import { useProxy } from "./environment.ts"
import * as Provider from "./provider.ts"

class SignInFailed extends NamedError {
  constructor(providerId: string, reason: string) {
    super("Provider.SignInFailed", `Signing in at ${providerId} failed: ${reason}`, { providerId })
  }
}

const Answer = z.object({ key: z.string().min(1) })
const timeout = 300_000
const logins = createLogins<object>()

/** Begins to sign in, in place of a login that still waits. Returns the address that the person opens. */
export async function start(providerId: string): Promise<LoginStarted> {
  check(providerId)
  return logins.start(providerId, (given) => signIn({ providerId, ...given }))
}

/** The outcome as soon as there is one, or `waiting` after a while: then it is asked for again. */
export async function wait(providerId: string): Promise<LoginOutcome> {
  const outcome = await logins.wait(providerId)
  if (outcome) return outcome
  throw new NamedError("Provider.LoginNotFound", `No login at ${JSON.stringify(providerId)} was begun.`)
}

/** Returns whether one was waiting. */
export async function cancel(providerId: string): Promise<boolean> {
  check(providerId)
  return logins.cancel(providerId)
}

function check(providerId: string): void {
  const known = Provider.list().filter(({ canSignIn }) => canSignIn)
  if (known.some(({ id }) => id === providerId)) return
  const names = known.map(({ id }) => id).join(", ")
  const reason = `${JSON.stringify(providerId)} has no sign-in for programs; these have one: ${names}.`
  throw new NamedError("Provider.SignInNotFound", `${reason} Paste a key instead.`, { providerId })
}

/** Resolves when the key is stored. */
async function signIn(given: {
  providerId: string
  onUrl(url: string): void
  signal: AbortSignal
}): Promise<object> {
  const { providerId: id, onUrl, signal } = given
  const settings = settingsOf(await Config.get(), id)
  const { page, keys } = entryOf(id, settings).signIn!
  const { baseURL } = connect({ id, settings })
  const end = AbortSignal.any([AbortSignal.timeout(timeout), signal])
  await using callback = await openCallback(end)
  const [state, verifier] = [word(), word()]
  const url = new URL(page, baseURL)
  url.search = String(
    new URLSearchParams({
      callback_url: callback.urlWith(state),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    }),
  )
  onUrl(url.href)
  try {
    const { code } = await callback.answer(state)
    await useProxy()
    const response = await createProviderFetch(id)(baseURL + keys, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, code_verifier: verifier, code_challenge_method: "S256" }),
      signal: end,
    })
    if (!response.ok) throw new Error(`the provider answered ${response.status}`)
    const { success, data } = Answer.safeParse(await response.json().catch(() => undefined))
    if (!success) throw new Error("the provider answered without a key")
    await Provider.login(id, data.key)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new SignInFailed(id, fetchFailure(error))
  }
  return {}
}

function word(): string {
  return randomBytes(32).toString("base64url")
}
