// 50 stories in one browser, beside 50 bare pages in contexts of their own in the same kind of browser, as many at once.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findBrowser } from "#ability/browser/find-browser.ts"
import { startChromium } from "#ability/browser/start-browser.ts"
import { createWorld } from "#ability/world/create-world.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { median, report } from "./measure.ts"

const count = 50
const files = 10
const rounds = 3
const atOnce = 4

const folder = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["DATA", "CONFIG", "CACHE", "STATE"])
  process.env[`XDG_${name}_HOME`] = join(folder, "home")
const project = join(folder, "project")
mkdirSync(project)
const story = (name: string) => `export const ${name} = {
  intent: "A click adds one", component: Counter, parameters: { timeout: 30_000 },
  async play({ root, assert, findByText, fireEvent }) {
    await fireEvent(await findByText("Add"), "click")
    assert({ given: "a click", should: "add one", actual: root.querySelector("output").textContent, expected: "1" })
  },
}`
const counter = `export function Counter(args: object, root: HTMLElement): void {
  root.innerHTML = "<button type=button>Add</button> <output>0</output>"
  root.querySelector("button")!.onclick = () => { root.querySelector("output")!.textContent = "1" }
}`
writeFileSync(join(project, "counter.ts"), counter)
for (let file = 0; file < files; file++) {
  const stories = Array.from({ length: count / files }, (_, at) => story(`story${at}`))
  const text = [`import { Counter } from "./counter.ts"`, ...stories].join("\n")
  writeFileSync(join(project, `counter${file}.stories.ts`), text)
}

const times: Record<"ours" | "floor", number[]> = { ours: [], floor: [] }
for (let round = 0; round < rounds; round++) {
  times.floor.push(await barePages())
  times.ours.push(await stories())
}
report(
  `${count} stories in one browser (floor: ${count} bare pages)`,
  median(times.ours),
  median(times.floor),
  "s",
)
console.log(`goal 15 s ${median(times.ours) <= 15 ? "met" : "MISSED"}`)
rmSync(folder, { recursive: true, force: true })
process.exit()

/** With the start of the browser, in seconds. */
async function stories(): Promise<number> {
  await Trust.grant(project, { keep: false })
  const { signal } = new AbortController()
  const start = performance.now()
  const world = await createWorld(project)
  const outcomes = await world.run(await world.select({ patterns: [], signal }), { signal })
  await world.close()
  const time = (performance.now() - start) / 1_000
  const passed = outcomes.filter(({ status }) => status === "passed").length
  if (passed !== count) throw new Error(`${passed} of ${count} stories passed`)
  return time
}

async function barePages(): Promise<number> {
  const server = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>Hi</p>"),
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const found = findBrowser()
  if (Array.isArray(found)) throw new Error(found.map(({ what }) => what).join("; "))
  const start = performance.now()
  const chromium = await startChromium(found)
  const check = async (given: string) => ({ url: new URL(given), address: "127.0.0.1" })
  let left = count
  const work = async () => {
    while (left-- > 0) {
      const context = await chromium.newContext({}, check)
      await (await context.newPage()).goto(url)
      await context.close()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await chromium.close()
  server.close()
  return (performance.now() - start) / 1_000
}
