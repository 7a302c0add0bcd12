// Starts Chromium, and opens pages in it: each in a context that is thrown away, behind a proxy of ours. The one place that
// loads playwright-core.
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { BrowserContext, BrowserType, CDPSession, Page, Browser as Process } from "playwright-core"
import { type Checked, UrlDenied } from "#ability/web/check-url.ts"
import { createProxy, type Proxy as OwnProxy } from "#ability/web/proxy.ts"
import * as Env from "#kernel/process/env.ts"
import { errorText, NamedError } from "#util/error.ts"
import { hasProcess } from "#util/process.ts"
import { waitAtMost } from "#util/wait.ts"
import { createFolder, removeFolder } from "./browser-folder.ts"
import type { Found } from "./find-browser.ts"

export type Browser = Readonly<{
  context: BrowserContext
  page: Page
  /** Commands to the page's own target. */
  devtools: CDPSession
  pid: number | undefined
  close(): Promise<void>
}>
type Check = (url: string) => Promise<Checked>
type Library = { chromium?: BrowserType; default?: { chromium: BrowserType } }

const startLimit = 60_000
const closeLimit = 5_000
const passed = [
  "PATH",
  "LANG",
  "LC_ALL",
  "TZ",
  "FONTCONFIG_PATH",
  "FONTCONFIG_FILE",
  "SYSTEMROOT",
  "LD_LIBRARY_PATH",
]
/** Nothing may get around the proxy: no name is resolved by the browser, and UDP is off. */
const flags = [
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Its name in older versions.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--dns-prefetch-disable",
]

class NotStarted extends NamedError {
  constructor(program: string, reason: string) {
    const hint = /sandbox/i.test(reason)
      ? " Its sandbox does not work here: allow unprivileged user namespaces, or set VITAMIN_BROWSER_SANDBOX=off."
      : ""
    super("Browser.NotStarted", `${program} could not be started: ${reason}${hint}`, { program })
  }
}

/** One process, with a page of its own for each caller of `open`. */
export type Chromium = Readonly<{
  browser: Process
  /** A page in a context with a profile that is thrown away. `check` judges every URL that it connects to. */
  open(check: Check): Promise<Browser>
  /** Such a context without a page. */
  newContext(options: object, check: Check): Promise<BrowserContext>
  close(): Promise<void>
}>

export async function startChromium({ library, chromium: program }: Found): Promise<Chromium> {
  const { default: loaded, chromium: type = loaded!.chromium }: Library = await import(
    pathToFileURL(library).href
  )
  const folder = await createFolder()
  let proxy: OwnProxy | undefined
  let first: BrowserContext | undefined
  let pid: number | undefined
  try {
    // For what the browser itself asks for. Every context has a proxy of its own.
    proxy = await createProxy(refuse)
    first = await type.launchPersistentContext(join(folder, "profile"), {
      executablePath: program,
      headless: true,
      chromiumSandbox: hasSandbox(),
      args: flags,
      // One window for each click, not a hundred.
      ignoreDefaultArgs: ["--disable-popup-blocking"],
      env: environment(folder),
      proxy: behind(proxy),
      artifactsDir: join(folder, "artifacts"),
      downloadsPath: join(folder, "downloads"),
      timeout: startLimit,
      // Instances are disposed on signals, which closes the browser.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    pid = await pidOf(first)
    const browser = first.browser()!
    // Contexts of their own are thrown away one by one. The page of the first one would only take memory.
    await Promise.all(first.pages().map((page) => page.close()))
    const open = (check: Check) => openPage({ browser, check, pid, end: () => kill(pid) })
    const newContext = (options: object, check: Check) => contextBehind(browser, { check, options })
    return Object.freeze({ browser, open, newContext, close })
  } catch (error) {
    await close()
    throw new NotStarted(program, reasonOf(error))
  }

  async function close(): Promise<void> {
    const closed = first
      ?.browser()
      ?.close()
      .catch(() => {})
    if (closed) await waitAtMost(closeLimit, closed)
    kill(pid)
    await Promise.allSettled([proxy?.close(), removeFolder(folder)])
  }
}

async function refuse(url: string): Promise<never> {
  throw new UrlDenied(url, "invalid", "no page asked for it.")
}

/** Its proxy is closed with it. */
async function contextBehind(
  browser: Process,
  { check, options }: { check: Check; options: object },
): Promise<BrowserContext> {
  const proxy = await createProxy(check)
  try {
    const context = await browser.newContext({ ...options, serviceWorkers: "block", proxy: behind(proxy) })
    context.on("close", () => void proxy.close())
    return context
  } catch (error) {
    await proxy.close()
    throw error
  }
}

async function openPage(options: {
  browser: Process
  check: Check
  pid: number | undefined
  end(): void
}): Promise<Browser> {
  const { browser, check, pid } = options
  const proxy = await createProxy(check)
  let context: BrowserContext | undefined
  try {
    context = await browser.newContext({
      proxy: behind(proxy),
      serviceWorkers: "block",
      viewport: { width: 1280, height: 800 },
    })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    return Object.freeze({ context, page, devtools, pid, close })
  } catch (error) {
    await close()
    throw error
  }

  /** A context that does not close would keep its pages running: then the whole browser ends. */
  async function close(): Promise<void> {
    let isClosed = context === undefined
    const closing = context?.close().then(
      () => {
        isClosed = true
      },
      () => {},
    )
    await waitAtMost(closeLimit, closing ?? Promise.resolve())
    if (!isClosed && browser.isConnected()) options.end()
    await proxy.close()
  }
}

function behind(proxy: OwnProxy) {
  return { server: `http://127.0.0.1:${proxy.port}`, bypass: "<-loopback>" }
}

/** As root Chromium has no sandbox. */
function hasSandbox(): boolean {
  return process.getuid?.() !== 0 && Env.get("VITAMIN_BROWSER_SANDBOX") !== "off"
}

/** The browser gets none of the person's variables, which may hold secrets, and writes nothing into their home. */
function environment(home: string): Record<string, string> {
  const values = passed.flatMap((name) => {
    const value = Env.get(name)
    return value === undefined ? [] : [[name, value]]
  })
  return {
    ...Object.fromEntries(values),
    HOME: home,
    TMPDIR: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
  }
}

async function pidOf(context: BrowserContext): Promise<number | undefined> {
  const devtools = await context.browser()?.newBrowserCDPSession()
  const { processInfo = [] } = (await devtools?.send("SystemInfo.getProcessInfo")) ?? {}
  return processInfo.find(({ type }) => type === "browser")?.id
}

/** Only if it did not end by itself. The other processes of a browser end with their main one. */
function kill(pid: number | undefined): void {
  if (pid !== undefined && hasProcess(pid)) process.kill(pid, "SIGKILL")
}

/** Playwright adds its whole log to a message. The command line in it names the sandbox, but is no reason. */
function reasonOf(error: unknown): string {
  const [first = "", ...log] = errorText(error)
    .replace(/\u001b\[\d+m/g, "")
    .split("\n")
    .filter((line) => !line.includes("<launching>"))
  const cause = [/FATAL/, /sandbox/i, /ERROR/]
    .map((kind) => log.find((line) => kind.test(line)))
    .find(Boolean)
  return [first, cause].filter(Boolean).join(" ").slice(0, 500)
}
