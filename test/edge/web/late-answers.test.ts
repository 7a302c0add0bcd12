// Answers of the server that come late, after something else has happened: they are not shown as news.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, status, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"
import { holdNext } from "./hold-next.ts"
import { layMessages, says } from "./lay-messages.ts"
import { startProxy } from "./proxy.ts"

const prompts = (length: number) => Array.from({ length }, (_, n) => says("user", `prompt number ${n}`))

async function openSession(t: Opened, panel = ""): Promise<string> {
  const { id } = await t.client.createSession({ title: "the session" })
  await t.page.goto(`${t.url}/#/session/${id}${panel}`)
  await t.page.getByLabel("Prompt").waitFor()
  return id
}

async function promptsOf(id: string, { client }: Opened): Promise<string[]> {
  const messages = await client.listMessages({ id })
  return messages.flatMap(({ type, data }) =>
    type === "text" && data.role === "user" ? data.parts.map((part) => part.text) : [],
  )
}

test("a prompt that has begun does not wait again because of an older list", async () => {
  await using t = await openPage([call("bash", { command: "true > one" }), text("First."), text("Second.")])
  const id = await openSession(t)
  await t.client.promptSession({ id, text: "one", prefer: "respond-async" })
  await t.page.getByRole("button", { name: "Allow once" }).waitFor()
  const list = await holdNext(t.page, /\/prompt$/)
  await t.page.getByLabel("Prompt").fill("two")
  await t.page.getByLabel("Prompt").press("Enter")
  await list.read
  await t.page.getByRole("button", { name: "Allow once" }).click()
  await t.page.locator(".message.user", { hasText: "two" }).waitFor()
  await list.give()
  assert.equal(await t.page.locator(".queued").count(), 0)
})

test("prompts that are sent one after the other arrive in this order", async () => {
  await using t = await openPage([text("Answered."), text("Answered."), text("Answered.")])
  const id = await openSession(t)
  const first = Promise.withResolvers<void>()
  const sent: string[] = []
  await t.page.route(/\/message$/, async (route) => {
    if (route.request().method() === "POST") {
      sent.push(route.request().postDataJSON().text)
      if (sent.length === 1) await first.promise
    }
    await route.continue()
  })
  for (const words of ["one", "two"]) {
    await t.page.getByLabel("Prompt").fill(words)
    await t.page.getByLabel("Prompt").press("Enter")
  }
  await t.page.evaluate(() => fetch("/icon.svg"))
  assert.deepEqual(sent, ["one"])
  first.resolve()
  await until(async () => (await promptsOf(id, t)).length === 2, "both have begun")
  assert.deepEqual(await promptsOf(id, t), ["one", "two"])
})

test("a question that is asked while the questions are read stays", async () => {
  await using t = await openPage([call("bash", { command: "true > one" }), text("Done.")])
  const { id } = await t.client.createSession({})
  const questions = await holdNext(t.page, /\/question$/)
  await t.page.reload()
  await questions.read
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await t.page.getByText("1 question waits").waitFor()
  await questions.give()
  assert.equal(await t.page.getByText("1 question waits").count(), 1)
})

test("a session that was removed while it was read is not listed again", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({ title: "removed meanwhile" })
  await t.page.goto(`${t.url}/#/`)
  await t.page.getByText("removed meanwhile").waitFor()
  const messages = await holdNext(t.page, /\/message\?/)
  await t.page.getByText("removed meanwhile").click()
  await messages.read
  await t.client.removeSession({ id })
  await t.page.getByText("This session was removed.").waitFor()
  await messages.give()
  await t.page.getByRole("link", { name: "Sessions", exact: true }).click()
  await t.page.getByText("No session here yet.").waitFor()
})

test("the mode that was chosen last holds, whatever is answered later", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({})
  const grants = await holdNext(t.page, /\/grant$/)
  await t.page.goto(`${t.url}/#/session/${id}`)
  const mode = t.page.getByLabel("Mode", { exact: true })
  const edits = async () => (await t.client.listGrants()).length > 0
  await grants.read
  await mode.selectOption("accept edits")
  await until(edits, "edits are allowed")
  await grants.give()
  assert.equal(await mode.inputValue(), "accept edits")
  const plan = await holdNext(t.page, /\/mode$/, "POST")
  await mode.selectOption("plan")
  await plan.read
  await mode.selectOption("ask")
  await plan.give()
  await until(async () => (await t.client.getSession({ id })).mode === "act", "the last choice")
  assert.equal(await mode.inputValue(), "ask")
  assert.equal(await edits(), false)
})

test("edits that were accepted are asked about again, also if that is chosen before they are known", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({})
  await t.client.allowEdits({ id, isAllowed: true })
  const grants = await holdNext(t.page, /\/grant$/)
  await t.page.goto(`${t.url}/#/session/${id}`)
  const mode = t.page.getByLabel("Mode", { exact: true })
  await grants.read
  await mode.selectOption("plan")
  await until(async () => (await t.client.getSession({ id })).mode === "plan", "plan mode")
  assert.deepEqual(await t.client.listGrants(), [])
})

test("images that are pasted at the same time are all attached", async () => {
  await using t = await openPage([])
  await openSession(t)
  const png = image("note.png").toString("base64")
  await t.page.getByLabel("Prompt").evaluate((box, data) => {
    const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0))
    for (const name of ["one.png", "two.png"]) {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File([bytes], name, { type: "image/png" }))
      box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }))
    }
  }, png)
  for (const name of ["one.png", "two.png"]) await t.page.getByRole("img", { name }).waitFor()
})

test("Go to the beginning reads everything, also while a part of it is read", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, prompts(500))
    },
  })
  const part = await holdNext(t.page, /\/message\?.*before/)
  await t.page.goto(`${t.url}/#/session/${id}`)
  const box = t.page.getByRole("region", { name: "Conversation" })
  await t.page.getByText("prompt number 499", { exact: true }).waitFor()
  await box.evaluate((one) => one.scrollTo({ top: 0 }))
  await part.read
  await t.page.getByRole("button", { name: "Go to the beginning" }).click()
  await part.give()
  await t.page.getByText("prompt number 0", { exact: true }).waitFor()
})

test("earlier messages of a branch that are asked for twice are shown once", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, prompts(60))
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}/branches`)
  const panel = t.page.getByRole("tabpanel", { name: "Branches" })
  const part = await holdNext(t.page, /\/message\?.*before/)
  await panel.getByRole("button", { name: "Earlier messages" }).dblclick()
  await part.read
  const first = panel.getByRole("button", { name: /prompt number 0$/ })
  await first.waitFor()
  await part.give()
  assert.equal(await first.count(), 1)
})

test("a preview of an undo is not shown after another prompt was chosen", async () => {
  await using t = await openPage([text("First."), text("Second.")])
  const id = await openSession(t, "/changes")
  for (const words of ["one", "two"]) await t.client.promptSession({ id, text: words })
  const panel = t.page.getByRole("tabpanel", { name: "Changes" })
  const choice = panel.getByLabel("Undo from this prompt on")
  await choice.getByRole("option", { name: "Undo from: one" }).waitFor({ state: "attached" })
  const preview = await holdNext(t.page, /\/revert$/, "POST")
  await panel.getByRole("button", { name: "Undo…" }).click()
  await preview.read
  await choice.selectOption({ label: "Undo from: one" })
  await preview.give()
  assert.equal(await panel.getByRole("group", { name: "What undo would do" }).count(), 0)
})

test("the route of an earlier request does not replace that of a later one", async () => {
  await using t = await openPage([], {
    args: ["--trust"],
    prepare(tmp) {
      tmp.write(
        ".vitamin/agents/reviewer.md",
        "---\nname: Reviewer\nmetadata:\n  description: Reviews changes\n  keywords: [review]\n---\nRead it.",
      )
    },
  })
  await t.page.goto(`${t.url}/#/folder/${encodeURIComponent(t.tmp.path)}/agents`)
  await t.page.getByRole("heading", { name: "Reviewer" }).waitFor()
  const earlier = await holdNext(t.page, /\/route/, "POST")
  const ask = async (words: string) => {
    await t.page.getByRole("textbox", { name: "Request" }).fill(words)
    await t.page.getByRole("button", { name: "Route" }).click()
  }
  await ask("say hello")
  await earlier.read
  await ask("review my change")
  const reviewer = t.page.getByRole("row", { name: /reviewer \(chosen\)/ })
  await reviewer.waitFor()
  await earlier.give()
  assert.equal(await reviewer.count(), 1)
})

test("a choice that was moved to stays chosen when an answer comes", async () => {
  await using t = await openPage([], {
    prepare(tmp) {
      for (const name of ["alpha", "alphabet"]) tmp.write(`${name}.ts`, "")
    },
  })
  await openSession(t)
  const box = t.page.getByLabel("Prompt")
  await box.pressSequentially("@alp")
  await until(async () => (await t.page.getByRole("listbox").getByRole("option").count()) === 2, "both files")
  const answer = await holdNext(t.page, /search=alph/)
  await box.press("h")
  await answer.read
  await box.press("ArrowDown")
  const moved = await t.page.locator("[role=option][aria-selected=true]").textContent()
  await answer.give()
  assert.equal(await t.page.locator("[role=option][aria-selected=true]").textContent(), moved)
})

test("a prompt that failed is sent again once, however often the button is pressed", async () => {
  await using t = await openPage([status(401, { message: "Wrong key" }), text("Once."), text("Twice.")])
  const id = await openSession(t)
  await t.client.promptSession({ id, text: "say it" }).catch(() => {})
  await t.page.getByRole("button", { name: "Send it again" }).dblclick()
  await t.page.getByText("Once.").waitFor()
  await until(async () => (await t.client.getSession({ id })).status === "idle", "the end")
  assert.deepEqual(await promptsOf(id, t), ["say it", "say it"])
})

test("a page that was signed out says so, also when its stream is cut afterwards", async () => {
  await using t = await openPage([])
  await using proxy = await startProxy(t.url)
  const { code } = await t.client.createBrowserCode()
  await t.page.goto(`${proxy.url}/#code=${code}`)
  await t.page.getByText("Connected").waitFor()
  await t.page.goto(`${proxy.url}/#/server`)
  await t.page.route(/\/browser\//, (route) => route.fulfill({ json: true }))
  await t.page.getByRole("button", { name: "Sign out this browser" }).click()
  await t.page.getByText("Not signed in").waitFor()
  const again = Promise.withResolvers<void>()
  await t.page.route(/\/event$/, () => again.resolve())
  proxy.drop()
  await again.promise
  assert.ok(await t.page.getByText("Not signed in").isVisible())
})

test("the conversation stays at its end if it grows before the page hears of its scrolling", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, prompts(50))
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByText("prompt number 49", { exact: true }).waitFor()
  const box = t.page.getByRole("region", { name: "Conversation" })
  const isAtEnd = () => box.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 5)
  await until(isAtEnd, "the end")
  await box.evaluate(async (one) => {
    const grow = () => {
      const more = document.createElement("div")
      more.style.height = "300px"
      one.firstElementChild!.append(more)
    }
    grow()
    one.scrollTop = one.scrollHeight
    grow()
    await new Promise((scrolled) => one.addEventListener("scroll", scrolled, { once: true }))
  })
  await until(isAtEnd, "the end again")
  assert.equal(await t.page.getByRole("button", { name: "To the end" }).count(), 0)
})

test("a new view and a preview of an undo have the focus, and a dialog is modal, as soon as they are drawn", async () => {
  await using t = await openPage([text("Done.")])
  const id = await openSession(t)
  await t.client.promptSession({ id, text: "one" })
  const undo = t.page.getByRole("button", { name: "Undo…" })
  await undo.waitFor()
  // Observers run before anything is painted, and before another key.
  const seen = (selector: string, script: string) =>
    t.page.evaluate(
      `new Promise((seen) => new MutationObserver((_, observer) => {
        const found = document.querySelector(${JSON.stringify(selector)})
        if (!found) return
        observer.disconnect()
        seen(${script})
      }).observe(document, { subtree: true, childList: true, attributes: true }))`,
    )
  const modal = seen("dialog", "found.open")
  await undo.click()
  assert.equal(await modal, true)
  await t.page.keyboard.press("Escape")
  const focused = seen("nav [href='#/stats'][aria-current]", "document.activeElement.id")
  await t.page.getByRole("link", { name: "Stats" }).click()
  assert.equal(await focused, "main")
  await t.page.goto(`${t.url}/#/session/${id}/changes`)
  const panel = t.page.getByRole("tabpanel", { name: "Changes" })
  await panel.getByRole("button", { name: "Undo…" }).waitFor()
  const preview = seen(".undo-preview", "found === document.activeElement")
  await panel.getByRole("button", { name: "Undo…" }).click()
  assert.equal(await preview, true)
  const closed = seen(".undo:not(:has(.undo-preview))", "found === document.activeElement")
  await panel.getByRole("button", { name: "Cancel" }).click()
  assert.equal(await closed, true)
})

test("text of an answer that comes after the whole answer is not shown", async () => {
  await using t = await openPage([text("The whole answer.")])
  await using proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  const { code } = await t.client.createBrowserCode()
  const { id } = await t.client.createSession({})
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  await page.goto(`${proxy.url}/#/session/${id}`)
  await page.getByLabel("Prompt").waitFor()
  const { id: messageId, parentId } = await t.client.promptSession({ id, text: "go" })
  await page.getByText("The whole answer.").waitFor()
  const inject = (type: string, payload: object) =>
    proxy.inject(`data: ${JSON.stringify({ type, time: 1, directory: t.tmp.path, payload })}\n\n`)
  inject("message.delta", { sessionId: id, messageId, parentId, kind: "text", text: "late answer." })
  // Events are shown in their order, text with the next frame.
  inject("session.notice", { sessionId: id, text: "a note behind it" })
  await page.getByText("a note behind it").waitFor()
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  assert.equal(await page.getByText("late answer.").count(), 0)
  assert.equal(await page.getByText("The whole answer.").count(), 1)
})
