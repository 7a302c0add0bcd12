// Decides about every request of the browser. Where the main frame goes is judged like a redirect of `fetch`: it must be
// allowed by the rules, or be on the site that was allowed. Other requests are parts of a page: the rules may deny them.
// Each connection is checked once more in the proxy.
import type { Page, Request } from "playwright-core"
import type { Context } from "#ability/call/types.ts"
import { type Checked, checkRedirect, checkUrl, UrlDenied } from "#ability/web/check-url.ts"
import { resolveHost } from "#ability/web/get-page.ts"
import { errorText } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { createExpectedHosts } from "./expected-hosts.ts"
import { type Notes, quote } from "./notes.ts"
import type { Browser } from "./start-browser.ts"

/** The rights of the last call: they hold until the next one. */
type Access = { granted: readonly string[]; judge?: Context["judge"]; first?: URL }

/** An allowed navigation of the main frame, until its page is there or it ends without one (204, download, stop). */
type Going = { url: URL; ended: PromiseWithResolvers<void> }

const grace = 1_000

export type Guard = Readonly<{
  /** With `first`, the URL that the call was allowed for, its grants replace those of earlier calls. */
  enter(context: Context, first?: string): void
  /** For the proxy. */
  check(url: string): Promise<Checked>
  install(browser: Browser): Promise<void>
  /** Why the last navigation of this call was stopped. */
  refusal(): UrlDenied | undefined
  /** The address of the first window that the page tried to open in this call. */
  takeWindow(): string | undefined
}>

export function createGuard(notes: Notes): Guard {
  const expected = createExpectedHosts()
  let access: Access = { granted: [] }
  let shown: Page | undefined
  let going: Going | undefined
  let refused: UrlDenied | undefined
  let window: string | undefined

  function enter({ judge, granted = [] }: Context, first?: string): void {
    refused = undefined
    window = undefined
    const rules = judge ? { judge } : {}
    access = first ? { granted, first: new URL(first), ...rules } : { ...access, ...rules }
  }

  async function check(url: string): Promise<Checked> {
    if (!(await expected.includes(url))) throw new UrlDenied(url, "invalid", "no page asked for it.")
    try {
      refuseDenied(url)
      return await checkUrl(url, { resolve: resolveHost, granted: await grantedFor(url) })
    } catch (error) {
      notes.add("blocked requests of the page", URL.parse(url)?.origin ?? quote(url))
      throw error
    }
  }

  /** A private address is open only to pages that are there themselves, and to the one request that goes there. */
  async function grantedFor(url: string): Promise<readonly string[]> {
    const to = URL.parse(url)
    if (!to || !access.granted.includes(to.origin)) return []
    if (going && isSameRequest(going.url, to)) return access.granted
    // Which page sends this is known when the navigation has ended.
    if (going) await waitAtMost(grace, going.ended.promise)
    const place = shown && URL.parse(shown.url())?.origin
    return place !== undefined && access.granted.includes(place) ? access.granted : []
  }

  function watchEnds(page: Page): void {
    const end = () => {
      going?.ended.resolve()
      going = undefined
    }
    const endOf = (request: Request) => {
      // The next step of a redirect may have begun already, even to the same URL.
      const isRedirected = Math.floor((request.existingResponse()?.status() ?? 0) / 100) === 3
      if (!isRedirected && going && isSameRequest(going.url, new URL(request.url()))) end()
    }
    page.on("framenavigated", (frame) => frame === page.mainFrame() && end())
    page.on("requestfinished", endOf).on("requestfailed", endOf)
  }

  async function install({ context, page, devtools }: Browser): Promise<void> {
    shown = page
    watchEnds(page)
    context.on("request", (request) => expected.add(request.url()))
    page.on("websocket", (socket) => expected.add(socket.url()))
    await context.route("**/*", async (route) => {
      const answer = (await mayRequest(route.request(), page)) ? route.continue() : route.abort("aborted")
      // The page may be gone.
      await answer.catch(() => {})
    })
    devtools.on("Page.windowOpen", ({ url }) => {
      window ??= url
      notes.add("windows that the page opened were closed", quote(url))
    })
    await devtools.send("Page.enable")
    // Routes are not asked about redirects.
    const { frameTree } = await devtools.send("Page.getFrameTree")
    devtools.on("Fetch.requestPaused", async (paused) => {
      const { requestId, request, frameId, redirectedRequestId, responseStatusCode: status } = paused
      const isRedirect = status === undefined && redirectedRequestId !== undefined
      const isMain = frameId === frameTree.frame.id
      // Playwright would wait for the page of an answer without content in every action from then on.
      const isEmpty = status === 204 || status === 205
      const isAllowed = !isEmpty && (!isRedirect || !isMain || (await mayGo(request.url, page.url())))
      const answer = isAllowed
        ? devtools.send("Fetch.continueRequest", { requestId })
        : devtools.send("Fetch.failRequest", { requestId, errorReason: "Aborted" })
      await answer.catch(() => {})
    })
    const patterns = (["Request", "Response"] as const).map((requestStage) => ({
      urlPattern: "*",
      resourceType: "Document" as const,
      requestStage,
    }))
    await devtools.send("Fetch.enable", { patterns })
  }

  async function mayRequest(request: Request, page: Page): Promise<boolean> {
    // A window, which is closed as soon as it is there.
    if (pageOf(request) !== page) return false
    const isNavigation = request.isNavigationRequest() && request.frame() === page.mainFrame()
    return isNavigation ? mayGo(request.url(), page.url()) : mayLoad(request.url())
  }

  async function mayGo(url: string, from: string): Promise<boolean> {
    const { first, judge, granted } = access
    try {
      const { url: to } = await checkUrl(url, { resolve: resolveHost, granted })
      const current = URL.parse(from)
      const base = current && /^https?:$/.test(current.protocol) ? current : first
      if (judge && first && base) checkRedirect({ to, from: base, first, judge, verb: "Open" })
      going = { url: to, ended: going?.ended ?? Promise.withResolvers() }
      return true
    } catch (error) {
      refused = error instanceof UrlDenied ? error : new UrlDenied(url, "invalid", errorText(error))
      return false
    }
  }

  function mayLoad(url: string): boolean {
    try {
      refuseDenied(url)
      return true
    } catch {
      notes.add("blocked requests of the page", URL.parse(url)?.origin ?? quote(url))
      return false
    }
  }

  function refuseDenied(url: string): void {
    if (access.judge?.({ permission: "network.fetch", target: URL.parse(url)?.href ?? url }) === "deny")
      throw new UrlDenied(url, "redirect", "the rules deny it.")
  }

  function takeWindow(): string | undefined {
    const taken = window
    window = undefined
    return taken
  }

  return Object.freeze({ enter, check, install, refusal: () => refused, takeWindow })
}

/** Throws for the first request of a window that has no page yet. */
function pageOf(request: Request) {
  try {
    return request.frame().page()
  } catch {
    return undefined
  }
}

/** The proxy is told no path of https. */
function isSameRequest(navigation: URL, asked: URL): boolean {
  if (asked.protocol === "https:") return navigation.origin === asked.origin
  return navigation.href.replace(/#.*/, "") === asked.href.replace(/#.*/, "")
}
