// Routes for browsers that show the page: a code to sign in with, the exchange of the code for a cookie, and the list of
// signed-in browsers, each of which can be signed out.
import { z } from "zod"
import { forbidden } from "#edge/server/http/refusal.ts"
import { securityHeaders } from "#edge/server/http/respond.ts"
import { defineHttpRoute, defineRoute, type Route } from "#edge/server/http/route.ts"
import * as Person from "#kernel/person.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { type BrowserSessions, sessionLifetime } from "./browser-sessions.ts"

const Browser = z.object({
  id: z.string(),
  created: about("In milliseconds since 1970.", z.number().int()),
  used: about("The last use, to the hour.", z.number().int()),
  browser: about("The User-Agent of the browser.", z.string()),
  person: about("Who signed in; missing: the owner of the server.", z.string().optional()),
})

class CodeDenied extends NamedError {
  constructor() {
    const text =
      'The code does not work: it was used before, or is older than a minute. Run "vitamin web" again.'
    super("Browser.CodeDenied", text)
  }
}

class SessionNotFound extends NamedError {
  constructor(id: string) {
    super("Browser.NotFound", `There is no browser ${JSON.stringify(id)} that is signed in here.`, { id })
  }
}

class NoPage extends NamedError {
  constructor() {
    super("Browser.NotFound", "Only a server that listens on a port has a page.")
  }
}

/** Without `sessions`, in the same process, there is nothing to sign in to. */
export function browserRoutes(sessions: BrowserSessions | undefined): Route[] {
  const known = (): BrowserSessions => {
    if (!sessions) throw new NoPage()
    return sessions
  }
  return [
    defineRoute({
      id: "createBrowserCode",
      method: "POST",
      role: "reader",
      path: "/browser/code",
      summary:
        "A code with which a browser can sign in once, within a minute: the page takes it as #code=…. The browser then acts for the person who asked; an admin may ask for another person.",
      query: z.object({ person: z.string().optional().describe("the person who signs in") }),
      response: z.object({ code: z.string(), expires: about("In milliseconds since 1970.", z.number()) }),
      instance: false,
      errors: [404],
      async handle({ query: { person: name } }) {
        const own = Person.current()
        if (name === undefined || name === own?.name) return known().createCode(own)
        if (own && own.role !== "admin") throw forbidden("admin", own.role)
        const { get } = await import("#edge/server/people/personal-token.ts")
        return known().createCode(await get(name))
      },
    }),
    defineHttpRoute({
      id: "signInBrowser",
      method: "POST",
      role: "open",
      path: "/browser",
      summary: "Exchange a code for a cookie and the key of the page. Needs no token.",
      body: z.object({ code: z.string().max(200) }),
      response: z.object({
        signedIn: z.literal(true),
        id: about("Of this browser in the list.", z.string()),
        key: about("For the header x-vitamin-page, without which the cookie is worth nothing.", z.string()),
      }),
      instance: false,
      async respond(c, { body }) {
        const { cookie, exchange } = known()
        const signedIn = await exchange(body.code, c.req.header("user-agent") ?? "")
        if (signedIn === undefined) throw new CodeDenied()
        const { id, value, key } = signedIn
        const age = Math.round(sessionLifetime / 1_000)
        return new Response(JSON.stringify({ signedIn: true, id, key }), {
          headers: {
            ...securityHeaders,
            "content-type": "application/json; charset=utf-8",
            "set-cookie": `${cookie}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${age}`,
          },
        })
      },
    }),
    defineRoute({
      id: "listBrowsers",
      method: "GET",
      role: "reader",
      path: "/browser",
      summary: "The browsers that are signed in; those of the person, for an admin all.",
      response: z.array(Browser),
      instance: false,
      handle: () =>
        listed(sessions).map(({ person, ...one }) => ({
          ...one,
          ...(person ? { person: person.name } : {}),
        })),
    }),
    defineRoute({
      id: "signOutBrowser",
      method: "DELETE",
      role: "reader",
      path: "/browser/:id",
      summary: "Sign a browser out: its event streams end, and its next request is refused.",
      params: z.object({ id: z.string() }),
      response: z.object({ removed: z.literal(true) }),
      instance: false,
      errors: [404],
      async handle({ params: { id } }) {
        const isKnown = listed(sessions).some((one) => one.id === id)
        if (!isKnown || !(await sessions?.remove(id))) throw new SessionNotFound(id)
        return { removed: true as const }
      },
    }),
  ]
}

/** The browsers of the person who asks; of everybody for an admin. */
function listed(sessions: BrowserSessions | undefined): ReturnType<BrowserSessions["list"]> {
  const person = Person.limited()
  const all = sessions?.list() ?? []
  return person ? all.filter((one) => one.person?.name === person.name) : all
}
