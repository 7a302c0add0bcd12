// The page when connections break, the server is killed, sessions are long, and answers come in thousands of pieces.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Page } from "playwright-core"
import { call, stall, text } from "../../fixture/fake-llm.ts"
import { repeat } from "../../fixture/soak.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"
import { type Laid, layMessages, ran, says } from "./lay-messages.ts"
import { startProxy } from "./proxy.ts"
import { shows } from "./shows.ts"

const words = Array.from({ length: 400 }, (_, i) => `word${i}`)
const story = words.map((word, i) => word + (i % 40 === 39 ? "\n\n" : " ")).join("")

async function throughProxy(t: Opened, id: string) {
  const proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  await page.goto(`${proxy.url}/#/session/${id}`)
  await page.getByLabel("Prompt").waitFor()
  return { proxy, page }
}

/** Every word of the story once, in order. */
async function hasStory(page: Page): Promise<boolean> {
  const blocks = page.locator(".message.assistant:not(.live)").last().locator(".markdown > *")
  const shown = (await blocks.allTextContents()).join(" ")
  return shown.split(/\s+/).filter(Boolean).join(" ") === words.join(" ")
}

test("connections that break in the middle of an answer lose and double nothing", async () => {
  await using t = await openPage([text(story, { deltas: 200, delay: 20 })])
  const { id } = await t.client.createSession({})
  const { proxy, page } = await throughProxy(t, id)
  await using _ = proxy
  await page.getByLabel("Prompt").fill("tell it")
  await page.getByLabel("Prompt").press("Enter")
  const live = page.locator(".message.live .markdown > *")
  for (const word of ["word20", "word100", "word200"]) {
    await page.locator(".message .markdown", { hasText: word }).first().waitFor()
    const lost = shows(page, "Connection lost")
    proxy.drop()
    await lost
    await page.getByText("Connected").waitFor()
    // What is shown meanwhile is a beginning of the answer.
    const shown = (await live.allTextContents()).join(" ").split(/\s+/).filter(Boolean)
    assert.deepEqual(shown.slice(0, -1), words.slice(0, Math.max(0, shown.length - 1)))
  }
  await until(() => hasStory(page), "the whole answer")
  assert.equal(await page.locator(".message").count(), 2)
})

test("a tab that opens in the middle of an answer, and one that was there before, show the same", async () => {
  await using t = await openPage([text(story, { deltas: 200, delay: 20 })])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("tell it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.locator(".message .markdown", { hasText: "word50" }).first().waitFor()
  const other = await t.openTab(`#/session/${id}`)
  await until(async () => (await hasStory(t.page)) && (await hasStory(other)), "both tabs")
  for (const page of [t.page, other]) assert.equal(await page.locator(".message").count(), 2)
  assert.deepEqual(t.faults, [])
})

test("a server that is killed in the middle of an answer and of a turn leaves a session that the page shows and continues", async () => {
  await using t = await openPage(
    [stall(text(story, { deltas: 200 }), 20_000), call("bash", { command: "sleep 60" }), text("Here again.")],
    { config: { permission: [{ permission: "*", pattern: "**", action: "allow" }] } },
  )
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const box = t.page.getByLabel("Prompt")
  await box.fill("tell it")
  await box.press("Enter")
  await t.page.locator(".live", { hasText: "word80" }).waitFor()
  const isStored = async () => /word80/.test(JSON.stringify(await t.client.listMessages({ id })))
  await until(isStored, "the beginning of the answer is stored")
  await t.restart()
  await t.page.getByText("Connected").waitFor()
  await t.page.locator(".message.assistant:not(.live)", { hasText: "Interrupted." }).waitFor()
  assert.equal(await t.page.locator(".live").count(), 0)
  assert.equal(await t.page.locator(".message.user").count(), 1)
  await box.fill("run it")
  await box.press("Enter")
  await t.page.locator(".call[data-state=running]").waitFor()
  await t.restart()
  await t.page.getByText("Connected").waitFor()
  await until(
    async () => (await t.page.locator(".call[data-state=running]").count()) === 0,
    "the call has ended",
  )
  await box.fill("and now?")
  await box.press("Enter")
  await t.page.getByText("Here again.").waitFor()
  await until(async () => (await t.page.locator(".message.user").count()) === 3, "three prompts")
  const shown = await t.page.locator(".message.user .markdown").allTextContents()
  assert.deepEqual(
    shown.map((one) => one.trim()),
    ["tell it", "run it", "and now?"],
  )
})

const long = repeat(2_000, 10_000)

function longSession(): Laid[] {
  return Array.from({ length: long / 4 }, (_, n) => [
    says("user", `prompt number ${n}`),
    ...ran({ name: "read", arguments: { path: `src/file-${n}.ts` } }, "content\n".repeat(5)),
    says("assistant", `Answer **${n}**.\n\n${"It does this and that. ".repeat(n % 30)}`),
  ]).flat()
}

test("a session of thousands of messages is drawn in parts: few elements, a steady place, and an end at either side", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, longSession())
    },
  })
  const last = long / 4 - 1
  let reads = 0
  t.page.on("request", (request) => {
    if (/\/message\?/.test(request.url())) reads++
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByText(`prompt number ${last}`, { exact: true }).waitFor()
  const box = t.page.getByRole("region", { name: "Conversation" })
  await until(
    () => box.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 5),
    "the end is in sight",
  )
  // Up to the top of what is read, again and again: the place stays, and only what comes near is read.
  for (let i = 0; i < 4; i++) {
    const before = reads
    // A page has 100 messages, with 25 prompts. The first one that is read now stays in sight.
    const first = last + 1 - 25 * (i + 1)
    const blocks = await t.page.locator(".block").count()
    await box.evaluate((one) => one.scrollTo({ top: 0 }))
    await until(() => reads > before, "earlier messages are read")
    await until(async () => (await t.page.locator(".block").count()) > blocks, "they are there")
    await t.page.waitForTimeout(300)
    assert.ok(reads <= before + 2, `${reads - before} reads`)
    const isInSight = async () => {
      const at = await t.page.getByText(`prompt number ${first}`, { exact: true }).boundingBox()
      return at && at.y > 0 && at.y < 720
    }
    await until(isInSight, `prompt ${first} stays in sight`)
  }
  await t.page.getByRole("button", { name: "Go to the beginning" }).click()
  await t.page.getByText("prompt number 0", { exact: true }).waitFor()
  await until(() => box.evaluate((one) => one.scrollTop === 0), "the top")
  assert.equal(await t.page.getByText("Earlier messages").count(), 0)
  const drawn = () =>
    t.page.evaluate("document.querySelectorAll('.conversation *').length") as Promise<number>
  await until(async () => (await drawn()) < 6_000, "few elements")
  // Scrolling through everything draws and forgets.
  for (let i = 1; i <= 20; i++) {
    await box.evaluate((one, part) => one.scrollTo({ top: one.scrollHeight * part }), i / 20)
    await t.page.waitForTimeout(50)
    await until(async () => (await drawn()) < 10_000, "what is far away is forgotten")
  }
  await t.page.getByText(`prompt number ${last}`, { exact: true }).waitFor()
  assert.deepEqual(t.faults, [])
})

test("thousands of pieces of an answer leave the page responsive and its layout still", async () => {
  const pieces = repeat(1_000, 5_000)
  const paragraph = `${"Some *words* and `code` of a paragraph. ".repeat(6)}\n\n`
  const block = "```ts\nconst answer = 42 // comment\n```\n\n- one\n- two\n\n"
  const answer = (paragraph + block).repeat(Math.ceil((pieces * 6) / (paragraph.length + block.length)))
  await using t = await openPage([text(answer, { deltas: pieces, delay: 1 }), text("Next.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").waitFor()
  await t.page.evaluate(`
    window.seen = { tasks: [], shift: [] }
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) window.seen.tasks.push(one.duration)
    }).observe({ type: "longtask" })
    new PerformanceObserver((list) => {
      for (const one of list.getEntries()) if (!one.hadRecentInput) window.seen.shift.push(...one.sources.map((source) => (source.node?.outerHTML?.slice(0, 60) ?? source.node?.textContent) + " " + JSON.stringify([source.previousRect, source.currentRect])))
    }).observe({ type: "layout-shift" })
  `)
  await t.page.getByLabel("Prompt").fill("tell it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.locator(".message.assistant:not(.live)").waitFor({ timeout: 120_000 })
  const { tasks, shift } = (await t.page.evaluate("window.seen")) as { tasks: number[]; shift: string[] }
  console.log(
    `# ${pieces} pieces: ${tasks.length} long tasks, the longest ${Math.round(Math.max(0, ...tasks))} ms`,
  )
  assert.deepEqual(shift, [])
  // The finished blocks stay as they are: they are not parsed again.
  const blocks = await t.page.locator(".message.assistant .markdown > *").count()
  assert.ok(blocks >= 3 * Math.floor(answer.length / (paragraph.length + block.length)))
  assert.deepEqual(t.faults, [])
})
