// Runs one story in a page of its own. Whatever the page does is bounded and named: it may hang, throw, navigate away, open
// dialogs or windows, or reach for the network.
import type { BrowserContext, Frame, Page, Request } from "playwright-core"
import { errorText } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { findViolations, type Listed, listStories, playStory } from "./play-story.ts"
import type { StoryServer } from "./start-server.ts"
import type { Outcome } from "./story-result.ts"

export type Surroundings = {
  server: StoryServer
  /** `refused` hears every connection that a page tried, whatever made it. */
  newContext(options: object, refused: (host: string) => void): Promise<BrowserContext>
  axe: { url?: string; missing: string }
}
/** A page with the module of a story file. */
export type Opened = {
  context: BrowserContext
  page: Page
  problems: Set<string>
  refused: ReadonlySet<string>
  close(): Promise<void>
}

/** In milliseconds. */
const limits = { open: 30_000, load: 10_000, story: 5_000, longest: 60_000, after: 30_000, close: 3_000 }
const maxProblems = 20
const maxSnapshot = 20_000
const viewport = { width: 800, height: 600 }

/** No request tells of these. A story that uses them is told that they do not exist. */
const withoutNetwork = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
  delete globalThis[name]`

class Late extends Error {}

/** Throws if the page cannot be opened at all. `address`: of a story file. */
export async function openPage({ server, newContext }: Surroundings, address: string): Promise<Opened> {
  const refused = new Set<string>()
  const options = {
    viewport,
    extraHTTPHeaders: { "x-vitamin-stories": server.token },
    acceptDownloads: false,
    reducedMotion: "reduce",
  }
  const context = await newContext(options, (host) => add(refused, host))
  const close = () =>
    waitAtMost(
      limits.close,
      context.close().catch(() => {}),
    )
  try {
    await context.addInitScript(`globalThis.vitaminViolations = ${findViolations.toString()}`)
    await context.addInitScript(withoutNetwork)
    const page = await context.newPage()
    const problems = watch(page, server.origin)
    await page.goto(`${address}?page`, { timeout: limits.open, waitUntil: "domcontentloaded" })
    return { context, page, problems, refused, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The stories of the file. Throws what its modules throw. */
export async function listIn({ page, problems }: Opened, address: string): Promise<Listed[]> {
  try {
    return await bounded(page.evaluate(listStories, address), limits.load)
  } catch (error) {
    throw new Error([reasonOf(error, limits.load, "Loading the module"), ...problems].join("; "))
  }
}

export async function runStory(
  around: Surroundings,
  opened: Opened,
  { listed, address }: { listed: Listed; address: string },
): Promise<Omit<Outcome, "file" | "modules">> {
  const { page, problems, refused } = opened
  const { name, intent, parameters } = listed
  const began = performance.now()
  const limit = Math.min(Math.max(parameters.timeout || limits.story, 1), limits.longest)
  const assertions = { passed: 0, failed: 0 }
  let [what, allowed] = ["The story", limit]
  let seen: Pick<Outcome, "picture" | "snapshot" | "violations"> = {}
  try {
    if (parameters.viewport) await bounded(page.setViewportSize(sized(parameters.viewport)), limits.open)
    const played = await bounded(
      page.evaluate(playStory, { module: address, name, axe: around.axe }),
      allowed,
    )
    for (const { isPassed } of played.assertions) assertions[isPassed ? "passed" : "failed"]++
    if (played.error) add(problems, withPlace(played.error, around.server.origin))
    what = "The look at the page after it"
    allowed = limits.after
    seen = await bounded(lookAt(page, around, parameters.accessibility !== false), allowed)
  } catch (error) {
    // A page that navigates away takes its result with it: the navigation is the problem, not the lost result.
    if (!problems.size || error instanceof Late) add(problems, reasonOf(error, allowed, what))
  }
  // Playwright does not see requests of shared workers, nor links that only connect.
  for (const host of refused)
    if (![...problems].some((problem) => problem.includes(host)))
      add(problems, `It reached for the network: ${host}`)
  const duration = Math.round(performance.now() - began)
  const status = problems.size || assertions.failed ? "failed" : "passed"
  return { name, intent, status, problems: [...problems], assertions, ...seen, duration }
}

async function lookAt(page: Page, { axe }: Surroundings, isChecked: boolean): Promise<Partial<Outcome>> {
  const violations =
    isChecked && axe.url
      ? await page.evaluate(
          (url) =>
            (globalThis as unknown as { vitaminViolations: typeof findViolations }).vitaminViolations(url),
          axe.url,
        )
      : undefined
  const snapshot = await page.locator("body").ariaSnapshot()
  const picture = await page.screenshot({ type: "png" })
  return { picture, snapshot: snapshot.slice(0, maxSnapshot), ...(violations ? { violations } : {}) }
}

/** Notes what the page does by itself. */
function watch(page: Page, origin: string): Set<string> {
  const problems = new Set<string>()
  let isOpen = false
  page.on("dialog", (dialog) => {
    add(problems, `It opened a dialog: ${dialog.type()} ${JSON.stringify(dialog.message().slice(0, 200))}`)
    void dialog.dismiss().catch(() => {})
  })
  page.on("popup", (popup) => {
    add(problems, "It opened a window")
    void popup.close().catch(() => {})
  })
  page.context().on("request", (request) => {
    const url = request.url()
    const isLeaving = isOpen && request.isNavigationRequest() && frameOf(request) === page.mainFrame()
    if (isLeaving) add(problems, `It navigated away to ${url.slice(0, 300)}`)
    else if (!/^(data|blob|about):/.test(url) && !url.startsWith(`${origin}/`))
      add(problems, `It reached for the network: ${url.slice(0, 300)}`)
  })
  page.on("websocket", (socket) => add(problems, `It reached for the network: ${socket.url().slice(0, 300)}`))
  // Another address of the same document, such as a part of the page, is no other page.
  page.on("domcontentloaded", () => {
    if (isOpen) add(problems, `It navigated away to ${page.url().slice(0, 300)}`)
    isOpen = true
  })
  page.on("pageerror", (error) => add(problems, `It threw outside of play: ${error.message.slice(0, 500)}`))
  page.on("crash", () => add(problems, "Its page crashed"))
  return problems
}

/** Playwright throws for the first request of a window that has no page yet. */
function frameOf(request: Request): Frame | undefined {
  try {
    return request.frame()
  } catch {
    return undefined
  }
}

function add(problems: Set<string>, problem: string): void {
  if (problems.size < maxProblems) problems.add(problem)
}

async function bounded<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Late()), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
    work.catch(() => {})
  }
}

function reasonOf(error: unknown, limit: number, what: string): string {
  if (error instanceof Late) return `${what} took longer than ${limit} ms`
  const text = errorText(error)
    .split("\n")[0]!
    .replace(/^\w+\.\w+: (Error: )?/, "")
  return /context was destroyed/.test(text) ? "It navigated away" : text
}

/** Where in the project it was thrown. */
function withPlace({ message, stack }: { message: string; stack: string }, origin: string): string {
  const at = stack.split(`${origin}/`)[1]
  const place = /^([^\s?)]+?:\d+:\d+)/.exec(at ?? "")?.[1]
  return place === undefined ? message : `${message} (${decodeURIComponent(place)})`
}

function sized({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const within = (pixels: number) => Math.min(Math.max(Math.round(pixels) || 1, 1), 4_000)
  return { width: within(width), height: within(height) }
}
