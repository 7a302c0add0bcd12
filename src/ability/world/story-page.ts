// A page that stories run in, one after another, in a context of its own. Every story gets a new document of an origin that
// nobody can guess, so it sees no storage, workers or frames of those before it. The page notes what a story does by itself.
import { randomBytes } from "node:crypto"
import type { BrowserContext, CDPSession, Frame, Page, Request } from "playwright-core"
import { type Checked, UrlDenied } from "#ability/web/check-url.ts"
import { waitAtMost } from "#util/wait.ts"
import { bounded } from "./bounded.ts"
import { findViolations } from "./play-story.ts"
import type { StoryServer } from "./start-server.ts"

export type Surroundings = {
  server: StoryServer
  /** `check` judges every connection that a page tries, whatever made it. */
  newContext(options: object, check: (url: string) => Promise<Checked>): Promise<BrowserContext>
  /** `source`: script of axe-core. */
  axe: { source?: string; missing: string }
}
/** The stay of one story in a page. */
export type Visit = Readonly<{
  page: Page
  /** Of the story file. */
  address: string
  /** The problems that the page and its proxy noticed so far. */
  noticed(): string[]
  /** The text with the address of the server instead of the origin. */
  plain(text: string): string
  /** The page may be used by another story; without it the page is thrown away. */
  keep(): void
}>
export type StoryPage = Readonly<{
  /** Throws if the page does not open the story file in this time. */
  visit(file: string, milliseconds: number): Promise<Visit>
  /** Another story may use it: the last one kept it, and left nothing that runs beside the page. */
  isReusable(): Promise<boolean>
  close(): Promise<void>
}>
type Stay = { origin: string; problems: Set<string>; refused: Set<string>; isOpen: boolean; isKept: boolean }

const closeLimit = 3_000
const maxProblems = 20
const viewport = { width: 800, height: 600 }

/** No request tells of these. A story that uses them is told that they do not exist. */
const withoutNetwork = `for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"])
  delete globalThis[name]`
/** A window keeps its name when it gets another document. */
const withoutName = `if (globalThis === top) globalThis.name = ""`

export async function createStoryPage({ server, newContext, axe }: Surroundings): Promise<StoryPage> {
  let stay = newStay(server)
  const options = {
    viewport,
    extraHTTPHeaders: { "x-vitamin-stories": server.token },
    acceptDownloads: false,
    reducedMotion: "reduce",
  }
  const context = await newContext(options, check)
  const opened = await open().catch(async (error) => {
    await close()
    throw error
  })
  return Object.freeze({ visit, isReusable, close })

  async function open(): Promise<{ page: Page; devtools: CDPSession }> {
    for (const script of [withoutName, withoutNetwork]) await context.addInitScript(script)
    if (axe.source !== undefined) await context.addInitScript(axeScript(axe.source))
    const page = await context.newPage()
    watch(page, () => stay)
    return { page, devtools: await context.newCDPSession(page) }
  }

  async function check(given: string): Promise<Checked> {
    const url = URL.parse(given)
    if (url?.origin === stay.origin) return { url, address: "127.0.0.1" }
    // A tunnel is checked as https first, and as http then.
    if (url?.protocol === "http:") add(stay.refused, url.host.replace(/:443$/, ""))
    throw new UrlDenied(given, "address", "stories have no network.")
  }

  async function visit(file: string, milliseconds: number): Promise<Visit> {
    const { page, devtools } = opened
    const now = newStay(server)
    stay = now
    const address = `${now.origin}/${file.split("/").map(encodeURIComponent).join("/")}`
    await page.goto(`${address}?page`, { timeout: milliseconds, waitUntil: "domcontentloaded" })
    // Only now: the document before could set cookies until it was gone. No code of the story runs yet.
    const cleared = [
      context.clearCookies(),
      devtools.send("Page.resetNavigationHistory"),
      page.viewportSize()?.width === viewport.width && page.viewportSize()?.height === viewport.height
        ? undefined
        : page.setViewportSize(viewport),
    ]
    await bounded(Promise.all(cleared), milliseconds)
    const plain = (text: string) => text.replaceAll(now.origin, server.origin)
    return Object.freeze({
      page,
      address,
      noticed: () => problemsOf(now).map(plain),
      plain,
      keep: () => {
        now.isKept = true
      },
    })
  }

  async function isReusable(): Promise<boolean> {
    if (!stay.isKept || problemsOf(stay).length) return false
    const { devtools } = opened
    try {
      const [{ targetInfo: own }, { targetInfos: all }] = await bounded(
        Promise.all([devtools.send("Target.getTargetInfo"), devtools.send("Target.getTargets")]),
        closeLimit,
      )
      const isBeside = (target: typeof own) =>
        target.browserContextId === own.browserContextId &&
        target.targetId !== own.targetId &&
        target.type !== "browser_ui"
      // A shared worker may outlive the document.
      return !all.some(isBeside)
    } catch {
      return false
    }
  }

  function close(): Promise<void> {
    return waitAtMost(
      closeLimit,
      context.close().catch(() => {}),
    )
  }
}

/** Names of one site share a process, which keeps axe-core compiled. */
function newStay(server: StoryServer): Stay {
  const origin = `http://${randomBytes(12).toString("hex")}.stories.localhost:${new URL(server.origin).port}`
  return { origin, problems: new Set(), refused: new Set(), isOpen: false, isKept: false }
}

/** axe-core is compiled and run when a document first asks for it. */
function axeScript(source: string): string {
  return `(() => {
    const load = () => { ${source}
    }
    const find = ${findViolations.toString()}
    globalThis.vitaminViolations = () => find(load)
  })()`
}

/** Notes what the page does by itself. */
function watch(page: Page, stay: () => Stay): void {
  const note = (problem: string) => add(stay().problems, problem)
  page.on("dialog", (dialog) => {
    note(`It opened a dialog: ${dialog.type()} ${JSON.stringify(dialog.message().slice(0, 200))}`)
    void dialog.dismiss().catch(() => {})
  })
  page.on("popup", (popup) => {
    note("It opened a window")
    void popup.close().catch(() => {})
  })
  page.context().on("request", (request) => {
    const url = request.url()
    const { isOpen, origin } = stay()
    const isLeaving = isOpen && request.isNavigationRequest() && frameOf(request) === page.mainFrame()
    if (isLeaving) note(`It navigated away to ${url.slice(0, 300)}`)
    else if (!/^(data|blob|about):/.test(url) && !url.startsWith(`${origin}/`))
      note(`It reached for the network: ${url.slice(0, 300)}`)
  })
  page.on("websocket", (socket) => note(`It reached for the network: ${socket.url().slice(0, 300)}`))
  // Another address of the same document, such as a part of the page, is no other page.
  page.on("domcontentloaded", () => {
    const now = stay()
    if (now.isOpen) note(`It navigated away to ${page.url().slice(0, 300)}`)
    now.isOpen = true
  })
  page.on("pageerror", (error) => note(`It threw outside of play: ${error.message.slice(0, 500)}`))
  page.on("crash", () => note("Its page crashed"))
}

/** Playwright does not see requests of shared workers, nor links that only connect: the proxy does. */
function problemsOf({ problems, refused }: Stay): string[] {
  const known = [...problems]
  const more = [...refused].filter((host) => !known.some((problem) => problem.includes(host)))
  return [...known, ...more.map((host) => `It reached for the network: ${host}`)]
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
