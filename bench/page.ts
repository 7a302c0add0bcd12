// The page: how long after opening a session of 50 and of 10,000 messages is shown by a server that is warm, and how long the
// page is busy at once while an answer comes in 5,000 pieces. The floor is the first paint of the page without a session.
import { setTimeout as sleep } from "node:timers/promises"
import { openPage } from "../test/edge/web/harness.ts"
import { layMessages, ran, says } from "../test/edge/web/lay-messages.ts"
import { text } from "../test/fixture/fake-llm.ts"
import { until } from "../test/fixture/until.ts"

const rounds = 9
const pieces = 5_000
const paragraph = `${"Some *words* and `code` of a paragraph. ".repeat(6)}\n\n\`\`\`ts\nconst answer = 42\n\`\`\`\n\n`

const sessionOf = (messages: number) =>
  Array.from({ length: messages / 4 - 1 }, (_, n) => [
    says("user", `prompt number ${n}`),
    ...ran({ name: "read", arguments: { path: `src/file-${n}.ts` } }, "content\n".repeat(5)),
    says("assistant", `Answer **${n}**.\n\n${paragraph}`),
  ])
    .flat()
    .concat(says("user", "the end of it"))

const ids: string[] = []
const answer = paragraph.repeat(Math.ceil((pieces * 6) / paragraph.length))
await using t = await openPage([text(answer, { deltas: pieces, delay: 1 })], {
  prepare: (tmp) => ids.push(layMessages(tmp.path, sessionOf(52)), layMessages(tmp.path, sessionOf(10_000))),
})
const [short = "", long = ""] = ids
const browser = t.page.context()
// Notes when the page first shows a text, in milliseconds after it was opened.
await browser.addInitScript(`
  window.tasks = []
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.tasks.push(one.duration)
  }).observe({ type: "longtask" })
  new MutationObserver((_, observer) => {
    const isSession = location.hash.includes("/session/")
    if (!document.body?.textContent.includes(isSession ? "the end of it" : "Sessions")) return
    if (isSession && !document.querySelector(".message.user")) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => (window.shownAfter = performance.now())))
  }).observe(document, { childList: true, subtree: true })
`)

async function shownAfter(path: string): Promise<number> {
  const page = await browser.newPage()
  await page.goto(`${t.url}/${path}`)
  await until(() => page.evaluate("window.shownAfter !== undefined"), "the session is shown")
  const time = (await page.evaluate("window.shownAfter")) as number
  await page.close()
  return time
}

const kinds = {
  "floor: no session": "#/",
  "50 messages": `#/session/${short}`,
  "10,000 messages": `#/session/${long}`,
}
const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))
for (let i = 0; i < rounds; i++)
  for (const [kind, path] of Object.entries(kinds)) times.get(kind)!.push(await shownAfter(path))
for (const [kind, all] of times) {
  all.sort((a, b) => a - b)
  console.log(
    `${kind}: shown after ${Math.round(all[rounds >> 1]!)} ms (median), ${Math.round(all[0]!)} to ${Math.round(all.at(-1)!)} ms`,
  )
}

const { id } = await t.client.createSession({})
const page = await browser.newPage()
await page.goto(`${t.url}/#/session/${id}`)
await page.getByLabel("Prompt").fill("tell it")
await page.evaluate("window.tasks.length = 0")
await page.getByLabel("Prompt").press("Enter")
await page.locator(".message.assistant:not(.live)").waitFor({ timeout: 300_000 })
await sleep(500)
const tasks = (await page.evaluate("window.tasks")) as number[]
console.log(
  `${pieces} pieces: ${tasks.length} tasks over 50 ms, the longest ${Math.round(Math.max(0, ...tasks))} ms`,
)
