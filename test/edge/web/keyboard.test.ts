// A session with the keyboard alone: prompts, the queue, questions, panels, undo and redo, branches, dialogs.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, stall, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"
import { pressTab } from "./press-tab.ts"

const focused = (t: Opened) =>
  t.page.evaluate(
    () =>
      document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.trim() ?? "",
  )

async function openByKeyboard(script: Parameters<typeof openPage>[0]) {
  const t = await openPage(script)
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").waitFor()
  const { keyboard } = t.page
  const write = async (words: string) => {
    if ((await focused(t)) !== "Prompt") await pressTab(t.page, /^Prompt$/)
    await keyboard.type(words)
    await keyboard.press("Enter")
  }
  return Object.assign(t, { id, keyboard, write })
}

test("prompts are sent, queued, withdrawn and stopped, and a question is answered, by keyboard", async () => {
  await using t = await openByKeyboard([
    stall(text("word ".repeat(2_000), { deltas: 500 }), 20_000),
    call("write", { path: "made.txt", content: "x\n" }),
    text("Written."),
  ])
  await t.write("tell it")
  await t.page.locator(".live", { hasText: "word" }).waitFor()
  await t.write("and then this")
  await t.page.locator(".queued", { hasText: "and then this" }).waitFor()
  await pressTab(t.page, /^Withdraw/, "Shift+Tab")
  await t.keyboard.press("Enter")
  await t.page.locator(".queued").waitFor({ state: "detached" })
  assert.equal(await focused(t), "Prompt")
  await t.keyboard.press("Escape")
  await t.page.getByText("Interrupted.").first().waitFor()
  await t.write("write it")
  await t.page.locator(".question").waitFor()
  // The box is empty, so the question takes the focus, and gives it back.
  await until(async () => (await focused(t)) === "Question", "the question has the focus")
  await pressTab(t.page, /^Allow once$/)
  await t.keyboard.press("Enter")
  await t.page.getByText("Written.").waitFor()
  await until(async () => (await focused(t)) === "Prompt", "the composer has the focus")
  assert.ok(existsSync(join(t.tmp.path, "made.txt")))
  assert.deepEqual(t.faults, [])
})

test("panels are opened, files undone and redone, branches walked and made, and dialogs closed, by keyboard", async () => {
  await using t = await openByKeyboard([
    call("write", { path: "made.txt", content: "x\n" }),
    text("First answer."),
    text("Second answer."),
  ])
  const { id } = t
  await t.client.promptSession({ id, text: "one", asks: "once" })
  await t.page.getByText("First answer.").waitFor()
  const openPanel = async (name: RegExp) => {
    await pressTab(t.page, /^tab /, "Shift+Tab")
    await t.keyboard.press("Home")
    for (let i = 0; i < 8 && !name.test(await focused(t)); i++) await t.keyboard.press("ArrowRight")
    await t.keyboard.press("Enter")
  }
  // The dialog of a message.
  await pressTab(t.page, /^Undo…$/, "Shift+Tab")
  await t.keyboard.press("Enter")
  await t.page.getByRole("dialog", { name: "Undo" }).waitFor()
  await t.keyboard.press("Escape")
  await until(async () => (await focused(t)) === "Undo…", "the focus is back on the button")
  assert.equal(await t.page.getByRole("dialog").count(), 0)
  // Changes: undo and redo.
  await openPanel(/^Changes$/)
  const panel = t.page.getByRole("tabpanel", { name: "Changes" })
  await panel.getByText("made.txt", { exact: true }).waitFor()
  for (const [way, isThere] of [
    ["Undo", false],
    ["Redo", true],
  ] as const) {
    await panel
      .getByRole("button", { name: `${way}…` })
      .first()
      .waitFor()
    await pressTab(t.page, new RegExp(`^${way}…`))
    await t.keyboard.press("Enter")
    await panel.getByRole("group", { name: `What ${way.toLowerCase()} would do` }).waitFor()
    await pressTab(t.page, new RegExp(`^${way}$`))
    await t.keyboard.press("Enter")
    await panel.getByText(`${way}: 1 file restored or removed.`).waitFor()
    assert.equal(existsSync(join(t.tmp.path, "made.txt")), isThere)
    await until(async () => (await focused(t)) === "Undo and redo", "the focus stays in the panel")
  }
  await t.client.promptSession({ id, text: "two", asks: "once" })
  // Branches: one is made from a message, and the tree leads back.
  await openPanel(/^Branches$/)
  const branches = t.page.getByRole("tabpanel", { name: "Branches" })
  await branches.getByRole("button", { name: /First answer/ }).waitFor()
  await pressTab(t.page, /^assistant\s+First answer/)
  await t.keyboard.press("Enter")
  await pressTab(t.page, /^Name of the new branch$/)
  await t.keyboard.type("other")
  await pressTab(t.page, /^Branch from here$/)
  await t.keyboard.press("Enter")
  await branches.getByRole("treeitem", { name: /other.*active/ }).waitFor()
  await pressTab(t.page, /^\W*(main|other)\w*\d$/, "Shift+Tab")
  await t.keyboard.press("Home")
  await t.keyboard.press("Enter")
  await pressTab(t.page, /^Switch to this branch$/)
  await t.keyboard.press("Enter")
  await branches.getByRole("treeitem", { name: /main.*active/ }).waitFor()
  assert.deepEqual(t.faults, [])
})
