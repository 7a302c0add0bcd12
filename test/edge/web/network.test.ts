// The page on a bad network: connections that die without a word, as when a laptop sleeps, and slow ones.
import assert from "node:assert/strict"
import { test } from "node:test"
import { text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { startProxy } from "./proxy.ts"

test("a connection that died while the laptop slept is noticed, and what was missed is read", async () => {
  await using t = await openPage([text("First answer."), text("Second answer."), text("Third answer.")])
  const { id } = await t.client.createSession({ title: "Before" })
  await using proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  await page.clock.install()
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  await page.goto(`${proxy.url}/#/session/${id}`)
  await t.client.promptSession({ id, text: "one" })
  await page.getByText("First answer.").waitFor()
  // Nothing comes any more, and nothing ends. New connections are accepted, and get no answer.
  proxy.freeze(true)
  await t.client.promptSession({ id, text: "two" })
  await t.client.updateSession({ id, title: "After" })
  await page.clock.fastForward(30_000)
  assert.equal(await page.getByText("Connected").count(), 1, "the next heartbeat may still come")
  await page.clock.fastForward(20_000)
  await page.getByText("Connection lost").waitFor()
  // The network is back, but the requests that were sent meanwhile are lost.
  await page.clock.fastForward(1_000)
  await until(() => proxy.held() > 0, "the page tries again")
  proxy.freeze(false)
  await page.clock.fastForward(50_000)
  await page.clock.fastForward(20_000)
  await page.getByText("Connected").waitFor()
  await page.getByText("Second answer.").waitFor()
  await page.getByRole("heading", { name: "After" }).waitFor()
  await t.client.promptSession({ id, text: "three" })
  await page.getByText("Third answer.").waitFor()
  for (const words of ["First answer.", "Second answer.", "Third answer."])
    assert.equal(await page.getByText(words).count(), 1, words)
  assert.equal(await page.locator(".message.user").count(), 3)
})

test("on a slow network the page opens, prompts and shows the answer once", async () => {
  const answer = Array.from({ length: 300 }, (_, i) => `word${i}`).join(" ")
  await using t = await openPage([text(answer, { deltas: 60, delay: 10 }), text("Again.")])
  const { id } = await t.client.createSession({ title: "Slow" })
  const page = await t.page.context().newPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send("Network.enable")
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 20_000,
  })
  await page.goto(`${t.url}/#/session/${id}`)
  const box = page.getByLabel("Prompt")
  await box.fill("tell it")
  await box.press("Enter")
  // The prompt is on its way; a second press sends nothing twice.
  await box.press("Enter")
  const shown = page.locator(".message.assistant:not(.live) .markdown")
  await until(async () => ((await shown.textContent().catch(() => "")) ?? "").trim() === answer, "the answer")
  await box.fill("again")
  await box.press("Enter")
  await page.getByText("Again.").waitFor()
  assert.deepEqual(
    (await page.locator(".message.user .markdown").allTextContents()).map((one) => one.trim()),
    ["tell it", "again"],
  )
  assert.equal(t.llm.requests.length, 2)
  assert.equal(await page.locator(".problems p").count(), 0)
  await page.close()
})
