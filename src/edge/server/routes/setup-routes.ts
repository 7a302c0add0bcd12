// Routes for the first use: whether a model must be chosen, the choice, and the key of a provider, pasted or by signing in.
import { z } from "zod"
import * as Provider from "#ability/provider/provider.ts"
import { markName } from "#ability/shell/environment.ts"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import * as FirstChoice from "#engine/model/first-choice.ts"
import { LoginOutcome, LoginStarted } from "#kernel/login/create-logins.ts"
import * as Env from "#kernel/process/env.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"

const maxKey = 10_000
const params = z.object({ id: z.string() })

export function setupRoutes(): Route[] {
  return [
    defineRoute({
      id: "getFirstChoice",
      method: "GET",
      role: "reader",
      path: "/first-choice",
      summary:
        "Whether the person should choose a model, what was chosen, and which model servers answer here.",
      response: FirstChoice.Info,
      handle: () => FirstChoice.get(),
    }),
    defineRoute({
      id: "saveFirstChoice",
      method: "POST",
      role: "admin",
      path: "/first-choice",
      summary:
        "Remember that the person was asked, with the model that was chosen, so that it is asked once.",
      body: z.object({
        model: about("`provider/model`; without it, the usual one.", z.string().min(1).max(500).optional()),
      }),
      response: z.object({ saved: z.literal(true) }),
      async handle({ body: { model } }) {
        await FirstChoice.write(model)
        return { saved: true as const }
      },
    }),
    defineRoute({
      id: "storeKey",
      method: "POST",
      role: "admin",
      path: "/provider/:id/key",
      summary: "Store the key of a provider, as `vitamin auth login` does. No route, event or log shows it.",
      params,
      body: z.object({ key: z.string().min(1).max(maxKey) }),
      response: z.object({ stored: z.literal(true) }),
      errors: [404],
      async handle({ params: { id }, body: { key } }) {
        refuseCommands()
        if (!Provider.list().some((provider) => provider.id === id))
          throw new NamedError(
            "Provider.NotFound",
            `Provider ${JSON.stringify(id)} does not exist. GET /provider lists those that do.`,
            { id },
          )
        await Provider.login(id, key)
        return { stored: true as const }
      },
    }),
    defineRoute({
      id: "startProviderLogin",
      method: "POST",
      role: "admin",
      path: "/provider/:id/login",
      summary:
        "Begin to sign in at a provider, for a key. The person opens the address in a browser on the machine of this server, which receives the redirect and stores the key. Replaces a login that still waits.",
      params,
      response: LoginStarted,
      errors: [404],
      async handle({ params: { id } }) {
        refuseCommands()
        return (await import("#ability/provider/sign-in.ts")).start(id)
      },
    }),
    defineRoute({
      id: "waitForProviderLogin",
      method: "GET",
      role: "admin",
      path: "/provider/:id/login",
      summary:
        "Wait for the login at a provider that was begun last. After 20 seconds the state is `waiting`: then ask again.",
      params,
      response: LoginOutcome,
      errors: [404],
      handle: async ({ params: { id } }) => (await import("#ability/provider/sign-in.ts")).wait(id),
    }),
    defineRoute({
      id: "cancelProviderLogin",
      method: "DELETE",
      role: "admin",
      path: "/provider/:id/login",
      summary: "Stop a login at a provider that waits. `cancelled` is false if none does.",
      params,
      response: z.object({ cancelled: z.boolean() }),
      errors: [404],
      async handle({ params: { id } }) {
        const { cancel } = await import("#ability/provider/sign-in.ts")
        return { cancelled: await cancel(id) }
      },
    }),
  ]
}

/** Stops a terminal that a command of the model starts. A command that reaches another server is stopped only by not having
 * its token. */
function refuseCommands(): void {
  if (Env.get(markName))
    throw new NamedError("Provider.Denied", "A command that vitamin runs cannot store keys.")
}
