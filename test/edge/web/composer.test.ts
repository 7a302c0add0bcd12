// The composer: completion of files and commands by keyboard, history, drafts, queue, stop, and the choosers.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { vitamin } from "../../fixture/cli.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

const allowAll = { permission: [{ permission: "*", pattern: "**", action: "allow" }] }

async function openSession(t: Opened): Promise<string> {
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").waitFor()
  return id
}

test("@ completes files and / completes commands, with the keyboard and announced", async () => {
  await using t = await openPage([text("Read."), text("Reviewed.")], {
    async prepare(tmp) {
      tmp.write("src/alpha.ts", "a\n")
      tmp.write("src/alpha two.ts", "b\n")
      tmp.write(
        ".vitamin/commands/review.md",
        "---\ndescription: Reviews a change.\n---\nReview $ARGUMENTS now\n",
      )
      await vitamin(tmp, ["trust", "--yes"])
    },
  })
  await openSession(t)
  const box = t.page.getByLabel("Prompt")
  const option = (name: RegExp) => t.page.getByRole("option", { name })
  await box.pressSequentially("look at @alph")
  await option(/alpha\.ts/).waitFor()
  const active = await box.getAttribute("aria-activedescendant")
  assert.equal(await t.page.locator(`#${active}`).getAttribute("aria-selected"), "true")
  assert.equal(await box.getAttribute("aria-controls"), await t.page.getByRole("listbox").getAttribute("id"))
  while (!/two/.test((await t.page.locator("[role=option][aria-selected=true]").textContent()) ?? ""))
    await box.press("ArrowDown")
  await box.press("Enter")
  assert.equal(await box.inputValue(), 'look at @"src/alpha two.ts" ')
  assert.equal(await t.page.getByRole("listbox").count(), 0)
  await box.press("Enter")
  await t.page.getByText("attached src/alpha two.ts").waitFor()
  await box.pressSequentially("/rev")
  await option(/review.*Reviews a change/).waitFor()
  await box.press("Escape")
  assert.equal(await t.page.getByRole("listbox").count(), 0)
  await box.pressSequentially("i")
  await box.press("Tab")
  assert.equal(await box.inputValue(), "/review ")
  await box.pressSequentially("it")
  await box.press("Enter")
  await t.page.getByText("Reviewed.").waitFor()
  assert.match(JSON.stringify(t.llm.requests.at(-1)!.body), /Review it now/)
  assert.deepEqual(t.faults, [])
})

test("ArrowUp in an empty box brings back prompts, Shift+Enter begins a line, and a draft survives a reload", async () => {
  await using t = await openPage([text("One."), text("Two.")])
  await openSession(t)
  const box = t.page.getByLabel("Prompt")
  for (const [prompt, answer] of [
    ["first prompt", "One."],
    ["second prompt", "Two."],
  ] as const) {
    await box.fill(prompt)
    await box.press("Enter")
    await t.page.getByText(answer, { exact: true }).waitFor()
    // A message is published when it is on the disk, perhaps after its answer has begun.
    await t.page.locator(".message.user", { hasText: prompt }).waitFor()
  }
  await box.press("ArrowUp")
  assert.equal(await box.inputValue(), "second prompt")
  await box.press("ArrowUp")
  assert.equal(await box.inputValue(), "first prompt")
  await box.press("ArrowDown")
  await box.press("ArrowDown")
  assert.equal(await box.inputValue(), "")
  await box.pressSequentially("a draft")
  await box.press("Shift+Enter")
  await box.pressSequentially("of two lines")
  await t.page.reload()
  await until(async () => (await box.inputValue()) === "a draft\nof two lines", "the draft")
  assert.equal(t.llm.requests.length, 2)
})

test("a prompt that is sent during a turn waits and can be withdrawn, and Escape stops the turn", async () => {
  await using t = await openPage([call("bash", { command: "sleep 60" }), text("Never.")], {
    config: allowAll,
  })
  const id = await openSession(t)
  const box = t.page.getByLabel("Prompt")
  await box.fill("wait")
  await box.press("Enter")
  // The first prompt no longer waits, and the next one cannot join it before this call has ended.
  await t.page.locator(".call", { hasText: "sleep 60" }).waitFor()
  await until(async () => (await t.page.locator(".queued").count()) === 0, "the turn has begun")
  await box.fill("later please")
  await t.page.getByRole("button", { name: "Send" }).click()
  await t.page.locator(".queued", { hasText: "later please" }).waitFor()
  await t.page.getByRole("button", { name: "Withdraw" }).click()
  await until(async () => (await t.page.locator(".queued").count()) === 0, "withdrawn")
  assert.deepEqual(await t.client.listPrompts({ id }), [])
  await until(async () => (await t.client.getSession({ id })).status === "busy", "busy")
  await box.press("Escape")
  await until(async () => (await t.client.getSession({ id })).status !== "busy", "stopped")
  await t.page.getByRole("button", { name: "Send" }).waitFor()
  assert.equal(await t.page.getByText("Never.").count(), 0)
})

test("agent and mode are chosen on the page, and edits that are accepted are not asked about", async () => {
  await using t = await openPage([
    call("write", { path: "made.txt", content: "x\n" }),
    text("Written."),
    text("Planned."),
  ])
  const id = await openSession(t)
  const box = t.page.getByLabel("Prompt")
  const mode = t.page.getByLabel("Mode", { exact: true })
  await mode.selectOption("accept edits")
  await until(async () => (await t.client.listGrants()).length > 0, "edits are allowed")
  await box.fill("write it")
  await box.press("Enter")
  await t.page.getByText("Written.").waitFor()
  assert.equal(readFileSync(join(t.tmp.path, "made.txt"), "utf8"), "x\n")
  await t.page.reload()
  await until(async () => (await mode.inputValue()) === "accept edits", "the mode is read")
  await mode.selectOption("plan")
  await until(async () => (await t.client.getSession({ id })).mode === "plan", "plan mode")
  assert.deepEqual(await t.client.listGrants(), [])
  const agents = t.page.getByLabel("Agent")
  const other = (await t.client.listAgents()).find((one) => one.mode === "primary" && one.id !== "build")!
  await agents.selectOption(other.id)
  await until(async () => (await t.client.getSession({ id })).agent === other.id, "another agent")
})
