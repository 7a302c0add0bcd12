// A conversation on the page: prompt, streamed answer, a question that is answered, and what two tabs see.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"

test("a person creates a session on the page, prompts it, and reads the answer as Markdown", async () => {
  await using t = await openPage([text("The port is **3141**.")])
  await t.page.getByRole("button", { name: "New session" }).click()
  await t.page.getByLabel("Prompt").fill("Which port?")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.locator(".message.assistant strong", { hasText: "3141" }).waitFor()
  assert.match((await t.page.locator(".message.user .markdown").textContent()) ?? "", /^Which port\?\s*$/)
  assert.deepEqual(t.faults, [])
})

test("a permission question is answered on the page, and the command runs", async () => {
  await using t = await openPage([call("bash", { command: "touch made" }), text("Done.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("make it")
  await t.page.getByRole("button", { name: "Send" }).click()
  await t.page.getByRole("group", { name: "Question" }).locator("code", { hasText: "touch made" }).waitFor()
  await t.page.getByRole("button", { name: "Once" }).click()
  await t.page.locator(".message.assistant", { hasText: "Done." }).waitFor()
  assert.ok(existsSync(join(t.tmp.path, "made")))
  assert.equal(await t.page.getByRole("group", { name: "Question" }).count(), 0)
})

test("two tabs show the same conversation, and a question that one answers closes in the other", async () => {
  await using t = await openPage([call("bash", { command: "true x" }), text("Both see it.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const other = await t.openTab(`#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("go")
  await t.page.getByLabel("Prompt").press("Enter")
  await other.getByRole("button", { name: "Once" }).click()
  for (const page of [t.page, other]) {
    await page.locator(".message.assistant", { hasText: "Both see it." }).waitFor()
    assert.equal(await page.locator(".message").count(), 2)
    await until(
      async () => (await page.getByRole("group", { name: "Question" }).count()) === 0,
      "no question",
    )
  }
  assert.deepEqual(t.faults, [])
})
