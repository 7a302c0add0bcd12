// The page of one session: opened with its first call, used by one call after the other, closed when it is idle. After a crash, or
// if a page blocks it, the next call opens a new one.
import type { Context } from "#ability/call/types.ts"
import { errorText, NamedError } from "#util/error.ts"
import { orAborted, waitAtMost } from "#util/wait.ts"
import { type Found, findBrowser, type Missing } from "./find-browser.ts"
import { createGuard, type Guard } from "./guard-requests.ts"
import { createNotes, type Notes } from "./notes.ts"
import { createSnapshot, type Snapshot } from "./snapshot.ts"
import type { Browser } from "./start-browser.ts"
import { type Watch, watchPage } from "./watch-page.ts"

export type Opened = Browser & { guard: Guard; notes: Notes; watch: Watch; snapshot: Snapshot }
/** `first`: the URL that the call was allowed for. `starts`: a browser is started if there is none. */
type Use = { context: Context; first?: string | undefined; starts?: boolean }
export type BrowserSession = Readonly<{
  /** The address of the page, if it is a web page. */
  url(): string | undefined
  pid(): number | undefined
  use<T>(how: Use, work: (opened: Opened) => Promise<T>): Promise<T>
  close(): Promise<void>
}>
type Timing = { idle: number; call: number }
type Options = Partial<Timing> & {
  /** Opens a page. */
  open(found: Found, check: Guard["check"]): Promise<Browser>
}

/** In milliseconds: how long an unused browser stays, and how long one call may take. */
const usual: Timing = { idle: 300_000, call: 60_000 }
const stopLimit = 2_000
const reason =
  /^.*(?:intercepts pointer events|not visible|not enabled|not stable|outside of the viewport|not editable).*$/m

class NotOpen extends NamedError {
  constructor() {
    super("Browser.NotOpen", "No page is open. Use browser_open first.")
  }
}

class BrowserMissing extends NamedError {
  constructor(missing: Missing[]) {
    const told = missing.map(({ what, todo }) => `${what} (${todo})`).join("; ")
    super("Browser.Missing", `Pages cannot be opened: ${told}.`)
  }
}

class Ended extends NamedError {
  constructor(why: string) {
    super("Browser.Ended", `${why} The page is gone: use browser_open again, which starts a new browser.`)
  }
}

class Failed extends NamedError {
  constructor(error: unknown) {
    const text = errorText(error).replace(/\u001b\[\d+m/g, "")
    const said = [
      text.split("\n")[0]!.replace(/^\w+\.\w+: /, ""),
      reason.exec(text)?.[0].replace(/^[\s-]+/, ""),
    ]
    super("Browser.Failed", said.filter(Boolean).join(" ").slice(0, 500))
  }
}

export function createBrowserSession(sessionId: string, options: Options): BrowserSession {
  const { idle, call } = { ...usual, ...options }
  let opened: Opened | undefined
  let hasCrashed = false
  let isEnded = false
  let timer: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  /** An abort returns at once. The next call waits until this one has stopped its work, or closed its browser. */
  function use<T>(how: Use, work: (opened: Opened) => Promise<T>): Promise<T> {
    const turn = last.then(() => useNow(how, work))
    last = turn.catch(() => {})
    return orAborted(turn, how.context.signal)
  }

  async function useNow<T>(
    { context, first, starts }: Use,
    work: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    context.signal.throwIfAborted()
    clearTimeout(timer)
    if (!opened && !starts) throw hasCrashed ? new Ended("The browser ended unexpectedly.") : new NotOpen()
    opened ??= await open(context.signal)
    opened.guard.enter(context, first)
    const { page } = opened
    try {
      return await bounded(work(opened), context.signal)
    } catch (error) {
      if (error instanceof NamedError || context.signal.aborted) throw error
      if (hasCrashed || page.isClosed()) throw new Ended("The browser ended unexpectedly.")
      throw new Failed(error)
    } finally {
      timer = setTimeout(() => void close(), idle).unref()
    }
  }

  async function open(signal: AbortSignal): Promise<Opened> {
    const found = findBrowser()
    if (Array.isArray(found)) throw new BrowserMissing(found)
    const notes = createNotes()
    const guard = createGuard(notes)
    const browser = await options.open(found, guard.check)
    try {
      const watch = watchPage(browser, { sessionId, notes })
      await guard.install(browser)
      if (isEnded) throw new Ended("The session ended.")
      signal.throwIfAborted()
      return watchEnd({ ...browser, guard, notes, snapshot: createSnapshot(), watch })
    } catch (error) {
      await browser.close()
      throw error
    }
  }

  function watchEnd(made: Opened): Opened {
    const onEnd = () => {
      if (opened !== made) return
      hasCrashed = true
      void close()
    }
    hasCrashed = false
    made.context.once("close", onEnd)
    made.page.once("crash", onEnd).once("close", onEnd)
    return made
  }

  /** A page may block its process for ever. Then the browser is closed, because nothing else ends that. */
  async function bounded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const late = AbortSignal.timeout(call)
    const crash = new Promise<never>((_, reject) =>
      opened!.page.once("crash", () => reject(new Error("crashed"))),
    )
    crash.catch(() => {})
    try {
      return await orAborted(Promise.race([work, crash]), AbortSignal.any([signal, late]))
    } catch (error) {
      if (!signal.aborted && !late.aborted) throw error
      if (!signal.aborted || !(await hasStopped(work))) await close()
      signal.throwIfAborted()
      throw new Ended(`The page did not respond for ${call / 1000} s, so the browser was closed.`)
    }
  }

  /** After an abort the page stays, if its work can be stopped. */
  async function hasStopped(work: Promise<unknown>): Promise<boolean> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    void opened?.devtools.send("Page.stopLoading").catch(() => {})
    await waitAtMost(stopLimit, work.then(over, over))
    return isOver
  }

  async function close(): Promise<void> {
    clearTimeout(timer)
    const closing = opened
    opened = undefined
    await closing?.close()
  }

  function url(): string | undefined {
    const now = opened?.page.url()
    return now !== undefined && /^https?:/.test(now) ? now : undefined
  }

  /** Also a browser that is just starting ends. */
  async function end(): Promise<void> {
    isEnded = true
    await close()
    await waitAtMost(stopLimit, last)
  }

  return Object.freeze({ url, pid: () => opened?.pid, use, close: end })
}
