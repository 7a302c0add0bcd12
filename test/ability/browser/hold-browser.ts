// A program that opens a page, prints the process of its browser, and stays until it is killed.
import { openPage } from "#ability/browser/browsers.ts"
import { findBrowser } from "#ability/browser/find-browser.ts"
import { Instance } from "#kernel/instance.ts"

await Instance.provide({
  directory: process.cwd(),
  async fn() {
    const found = findBrowser()
    if (Array.isArray(found)) throw new Error("no browser")
    const { pid } = await openPage(found, async () => Promise.reject(new Error("nothing is asked for")))
    process.stdout.write(`${pid}\n`)
    await new Promise(() => setInterval(() => {}, 1_000))
  },
})
