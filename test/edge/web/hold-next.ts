// Answers of the server that reach the page late.
import type { Page } from "playwright-core"

type Held = PromiseWithResolvers<void>

/** Holds the answer to the next such request. `read`: the server has given it. `give`: the page has got it. */
export async function holdNext(page: Page, url: RegExp, method = "GET") {
  const [read, given, done] = [1, 2, 3].map(() => Promise.withResolvers<void>()) as [Held, Held, Held]
  let isHeld = false
  await page.route(url, async (route) => {
    if (isHeld || route.request().method() !== method) return route.fallback()
    isHeld = true
    const response = await route.fetch()
    read.resolve()
    await given.promise
    await route.fulfill({ response })
    done.resolve()
  })
  return {
    read: read.promise,
    async give() {
      given.resolve()
      await done.promise
      await page.evaluate(() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 50)))
    },
  }
}
