// The steps of the browser tools: go to a page, click, type, wait, and let the page settle after each.
import { setTimeout as sleep } from "node:timers/promises"
import type { Page, Request } from "playwright-core"
import { errorText, NamedError } from "#util/error.ts"
import type { Opened } from "./browser-session.ts"

/** In milliseconds. */
const limits = { navigation: 20_000, action: 5_000, load: 2_000, download: 10_000 }
/** Until a click has an effect that can be seen from here. */
const reaction = 150
const tick = 50
const tooLong = `it took longer than ${limits.navigation / 1_000} s`

class NoAnswer extends NamedError {
  constructor(url: string, why: string) {
    super("Browser.NoAnswer", `${JSON.stringify(url.slice(0, 300))} could not be opened: ${why}.`, { url })
  }
}

export async function go(opened: Opened, url: string): Promise<void> {
  const { page, guard, devtools, watch } = opened
  const downloads = watch.downloads()
  try {
    await page.goto(url, { timeout: limits.navigation, waitUntil: "domcontentloaded" })
  } catch (error) {
    const refusal = guard.refusal()
    if (refusal) throw refusal
    const text = errorText(error).split("\n")[0]!
    const isLate = /Timeout/.test(text)
    if (isLate) await devtools.send("Page.stopLoading").catch(() => {})
    if (/Download is starting/.test(text)) await until(() => watch.downloads() > downloads)
    else if (page.isClosed()) throw error
    else throw new NoAnswer(url, isLate ? tooLong : (/net::\w+/.exec(text)?.[0] ?? text))
  }
  await settle(opened)
}

export async function click(
  opened: Opened,
  { ref, accept }: { ref: string; accept: boolean },
): Promise<boolean> {
  const element = await opened.snapshot.find(opened.page, ref)
  opened.watch.answer(accept)
  return during(opened, () => element.click({ timeout: limits.action }))
}

export async function type(
  opened: Opened,
  typed: { ref: string; text: string; submit: boolean },
): Promise<boolean> {
  const { ref, text, submit } = typed
  const element = await opened.snapshot.find(opened.page, ref)
  const timeout = limits.action
  const kind = await element.evaluate((node) => {
    const { nodeName, type } = node as unknown as { nodeName: string; type?: string }
    return nodeName === "INPUT" ? (type ?? "text") : nodeName
  })
  if (kind === "file")
    throw new NamedError("Browser.NoUpload", `${ref} takes files, and files are not uploaded.`)
  if (kind === "checkbox" || kind === "radio")
    throw new NamedError("Browser.NoText", `${ref} is a ${kind} and takes no text. Use browser_click.`)
  return during(opened, async () => {
    if (kind === "SELECT") await element.selectOption(text, { timeout })
    else await element.fill(text, { timeout })
    if (submit) await element.press("Enter", { timeout })
  })
}

export async function waitFor(
  opened: Opened,
  { text, seconds }: { text?: string | undefined; seconds: number },
): Promise<void> {
  const timeout = seconds * 1_000
  if (text === undefined) return void (await sleep(timeout))
  try {
    await opened.page.getByText(text).first().waitFor({ state: "visible", timeout })
  } catch (error) {
    if (!/Timeout/.test(errorText(error))) throw error
    throw new NamedError(
      "Browser.NotFound",
      `${JSON.stringify(text)} did not appear within ${seconds} s. Read the page to see what is there.`,
    )
  }
}

/** Runs an action, and waits for where it leads. Whether that is another document. */
async function during(opened: Opened, action: () => Promise<unknown>): Promise<boolean> {
  const { page, devtools, guard } = opened
  const going = watchNavigation(page)
  try {
    await action()
    await sleep(reaction)
    await until(() => !going.url())
    const waiting = going.url()
    if (waiting !== undefined) {
      await devtools.send("Page.stopLoading").catch(() => {})
      throw new NoAnswer(waiting, tooLong)
    }
  } finally {
    going.stop()
  }
  const refusal = guard.refusal()
  if (refusal) throw refusal
  await settle(opened)
  return (await followWindow(opened)) || going.hasArrived()
}

/** There is one page. A window that a click opens is shown in it. */
async function followWindow(opened: Opened): Promise<boolean> {
  const window = opened.guard.takeWindow()
  if (window === undefined || !/^https?:/.test(window)) return false
  await go(opened, window)
  return true
}

/** Returns after the time for a navigation in any case. */
async function until(isSo: () => boolean): Promise<void> {
  for (let left = limits.navigation; !isSo() && left > 0; left -= tick) await sleep(tick)
}

async function settle({ page, watch }: Opened): Promise<void> {
  await page.waitForLoadState("domcontentloaded", { timeout: limits.navigation }).catch(() => {})
  await page.waitForLoadState("load", { timeout: limits.load }).catch(() => {})
  await watch.downloaded(limits.download)
}

function watchNavigation(page: Page) {
  let pending: Request | undefined
  let hasArrived = false
  const begin = (request: Request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) pending = request
  }
  const fail = (request: Request) => {
    if (request === pending) pending = undefined
  }
  const arrive = (frame: unknown) => {
    if (frame !== page.mainFrame()) return
    pending = undefined
    hasArrived = true
  }
  const end = () => {
    pending = undefined
  }
  page.on("request", begin).on("requestfailed", fail).on("framenavigated", arrive).on("download", end)
  return {
    url: () => pending?.url(),
    hasArrived: () => hasArrived,
    stop: () =>
      void page
        .off("request", begin)
        .off("requestfailed", fail)
        .off("framenavigated", arrive)
        .off("download", end),
  }
}
