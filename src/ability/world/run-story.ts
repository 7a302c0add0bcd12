// Runs one story in a page of its own. Whatever the page does is bounded and named: it may hang, throw, navigate away, open
// dialogs or windows, or reach for the network.
import type { BrowserContext, Page, Request } from "playwright-core"
import { errorText } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { findViolations, type Listed, listStories, playStory } from "./play-story.ts"
import type { StoryServer } from "./start-server.ts"
import type { Outcome } from "./story-result.ts"

export type Surroundings = {
  server: StoryServer
  newContext(options: object): Promise<BrowserContext>
  axe: { url?: string; missing: string }
}
/** A page with the module of a story file. */
export type Opened = { context: BrowserContext; page: Page; problems: Set<string>; close(): Promise<void> }

/** In milliseconds. */
const limits = { open: 30_000, load: 10_000, story: 5_000, longest: 60_000, after: 30_000, close: 3_000 }
const maxProblems = 20
const maxSnapshot = 20_000
const viewport = { width: 800, height: 600 }

class Late extends Error {}

/** Throws if the page cannot be opened at all. */
export async function openPage({ server, newContext }: Surroundings, file: string): Promise<Opened> {
  const context = await newContext({
    viewport,
    extraHTTPHeaders: { "x-vitamin-stories": server.token },
    serviceWorkers: "block",
    acceptDownloads: false,
    reducedMotion: "reduce",
  })
  const close = () =>
    waitAtMost(
      limits.close,
      context.close().catch(() => {}),
    )
  try {
    await context.addInitScript(`globalThis.vitaminViolations = ${findViolations.toString()}`)
    const page = await context.newPage()
    const problems = watch(page, server.origin)
    const address = `${server.origin}/@vitamin/page?file=${encodeURIComponent(file)}`
    await page.goto(address, { timeout: limits.open, waitUntil: "domcontentloaded" })
    return { context, page, problems, close }
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
  const { page, problems } = opened
  const { name, intent, parameters } = listed
  const began = performance.now()
  const limit = Math.min(Math.max(parameters.timeout ?? limits.story, 1), limits.longest)
  const assertions = { passed: 0, failed: 0 }
  let seen: Pick<Outcome, "picture" | "snapshot" | "violations"> = {}
  try {
    if (parameters.viewport) await bounded(page.setViewportSize(sized(parameters.viewport)), limits.open)
    const played = await bounded(page.evaluate(playStory, { module: address, name, axe: around.axe }), limit)
    for (const { isPassed } of played.assertions) assertions[isPassed ? "passed" : "failed"]++
    if (played.error) add(problems, withPlace(played.error, around.server.origin))
    seen = await bounded(lookAt(page, around, parameters.accessibility !== false), limits.after)
  } catch (error) {
    // A page that navigates away takes its result with it: the navigation is the problem, not the lost result.
    if (!problems.size || error instanceof Late) add(problems, reasonOf(error, limit, "The story"))
  }
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
    if (/^(data|blob|about):/.test(url) || url.startsWith(`${origin}/`)) return
    const isLeaving = isOpen && request.isNavigationRequest() && pageOf(request) === page
    const verb = isLeaving ? "navigated away to" : "reached for the network:"
    add(problems, `It ${verb} ${url.slice(0, 300)}`)
  })
  page.on("websocket", (socket) => add(problems, `It reached for the network: ${socket.url().slice(0, 300)}`))
  page.on("framenavigated", (frame) => {
    if (frame !== page.mainFrame()) return
    if (isOpen) add(problems, `It navigated away to ${frame.url().slice(0, 300)}`)
    isOpen = true
  })
  page.on("pageerror", (error) => add(problems, `It threw outside of play: ${error.message.slice(0, 500)}`))
  page.on("crash", () => add(problems, "Its page crashed"))
  return problems
}

/** Throws for the first request of a window that has no page yet. */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page()
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
    .replace(/^\w+\.\w+: /, "")
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
