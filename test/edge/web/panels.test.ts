// The panels of a session in a browser: each shows what the real server stored, follows it live, and acts on it.
import assert from "node:assert/strict"
import { copyFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, calls, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { type Opened, openPage } from "./harness.ts"

const html = `<img src=x onerror="window.ran=1"><b>bold</b>`

/** Prompts the session over HTTP; every question is answered with yes. */
async function prompt(t: Opened, id: string, words: string): Promise<void> {
  await t.client.promptSession({ id, text: words, asks: "once" })
}

test("the tabs of a session open panels by mouse, keyboard and address, and load their code then", async () => {
  await using t = await openPage([text("Hello.")])
  const { id } = await t.client.createSession({})
  const scripts: string[] = []
  t.page.on("request", (request) => void (/\.js$/.test(request.url()) && scripts.push(request.url())))
  await t.page.goto(`${t.url}/#/session/${id}`)
  const tabs = t.page.getByRole("tablist")
  await tabs.getByRole("tab", { name: "Conversation", selected: true }).waitFor()
  assert.ok(!scripts.some((url) => /plan|cost|dagre/i.test(url)))
  await tabs.getByRole("tab", { name: "Cost" }).click()
  await t.page.getByText("No model has answered in this session yet.").waitFor()
  assert.match(t.page.url(), /#\/session\/[^/]+\/cost$/)
  assert.ok(scripts.some((url) => /cost-panel/.test(url)))
  await tabs.getByRole("tab", { name: "Cost" }).press("ArrowLeft")
  assert.equal(await t.page.evaluate("document.activeElement.textContent"), "Context")
  await t.page.keyboard.press("Enter")
  await t.page.getByRole("tabpanel", { name: "Context" }).getByText("System prompt").waitFor()
  // Beside the conversation on a wide screen, in its place on a narrow one.
  assert.ok(await t.page.getByLabel("Prompt", { exact: true }).isVisible())
  await t.page.setViewportSize({ width: 360, height: 740 })
  await t.page.getByLabel("Prompt", { exact: true }).waitFor({ state: "hidden" })
  assert.equal(
    await t.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
    true,
  )
  for (const [name, empty] of [
    ["changes", "This session has changed no files."],
    ["plan", "This session has no plan yet."],
    ["branches", "No messages yet."],
    ["guards", "Nothing has happened here"],
    ["stories", "No story ran in this session."],
  ]) {
    await t.page.goto(`${t.url}/#/session/${id}/${name}`)
    await t.page.getByText(empty!).waitFor()
  }
  await t.page.goto(`${t.url}/#/session/${id}/constructor`)
  await tabs.getByRole("tab", { name: "Conversation", selected: true }).waitFor()
  await t.client.removeSession({ id })
  await t.page.getByText("This session was removed.").waitFor()
  assert.deepEqual(t.faults, [])
})

test("the Changes panel shows diffs, undoes a prompt after a preview, and redoes it", async () => {
  const name = "<b>x</b>.html"
  await using t = await openPage([
    calls([
      call("write", { path: "a.txt", content: "one\ntwo\n" }),
      call("write", { path: name, content: `${html}\n` }),
    ]),
    text("Written."),
  ])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}/changes`)
  await t.page.getByText("This session has changed no files.").waitFor()
  await prompt(t, id, "write them")
  const panel = t.page.getByRole("tabpanel", { name: "Changes" })
  await panel.getByText("2 files").waitFor()
  await panel.getByText("a.txt", { exact: true }).waitFor()
  assert.match((await panel.textContent())!, /two/)
  assert.match((await panel.textContent())!, /onerror="window.ran=1"/)
  await panel.getByRole("button", { name: "Undo…" }).click()
  const preview = panel.getByRole("group", { name: "What undo would do" })
  await preview.getByText("a.txt", { exact: true }).waitFor()
  assert.ok(existsSync(join(t.tmp.path, "a.txt")), "a preview changes nothing")
  await preview.getByRole("button", { name: "Undo", exact: true }).click()
  await panel.getByText("Undo: 2 files restored or removed.").waitFor()
  await panel.getByText("This session has changed no files.").waitFor()
  assert.ok(!existsSync(join(t.tmp.path, "a.txt")))
  await panel.getByRole("button", { name: "Redo…" }).click()
  await panel
    .getByRole("group", { name: "What redo would do" })
    .getByRole("button", { name: "Redo", exact: true })
    .click()
  await panel.getByText("2 files", { exact: true }).waitFor()
  assert.equal(readFileSync(join(t.tmp.path, "a.txt"), "utf8"), "one\ntwo\n")
  assert.equal(await t.page.evaluate("window.ran"), undefined)
  assert.deepEqual(t.faults, [])
})

test("an undo leaves a file that a person changed since, and overwrites it only after a second question", async () => {
  await using t = await openPage([call("write", { path: "a.txt", content: "model\n" }), text("Done.")])
  t.tmp.write("a.txt", "before\n")
  const { id } = await t.client.createSession({})
  await prompt(t, id, `write it ${html}`)
  t.tmp.write("a.txt", "person\n")
  await t.page.goto(`${t.url}/#/session/${id}/changes`)
  const panel = t.page.getByRole("tabpanel", { name: "Changes" })
  await panel.getByRole("button", { name: "Undo…" }).click()
  const preview = panel.getByRole("group", { name: "What undo would do" })
  await preview.getByRole("heading", { name: "Conflicts" }).waitFor()
  assert.equal(await preview.getByRole("button", { name: /Really overwrite/ }).count(), 0)
  await preview.getByRole("button", { name: "Undo and overwrite conflicts…" }).click()
  assert.equal(readFileSync(join(t.tmp.path, "a.txt"), "utf8"), "person\n")
  await preview.getByRole("button", { name: "Really overwrite 1 file" }).click()
  await panel.getByText("Undo: 1 file restored or removed.").waitFor()
  assert.equal(readFileSync(join(t.tmp.path, "a.txt"), "utf8"), "before\n")
  assert.deepEqual(t.faults, [])
})

test("the Plan panel draws steps with their dependencies, is walked with keys, and follows the plan", async () => {
  const step = (key: string, status: string, after: string[] = []) => ({
    id: key,
    text: `Step ${key} ${html}`,
    status,
    after,
  })
  const list = (first: string) => ({
    todos: [step("one", first), step("two", "pending", ["one"]), step("three", "pending", ["one"])],
    title: "The plan",
    replace: true,
  })
  await using t = await openPage([
    call("todo", list("in_progress")),
    text("Planned."),
    call("todo", list("done")),
    text("First done."),
  ])
  const { id } = await t.client.createSession({})
  await prompt(t, id, "plan it")
  await t.page.goto(`${t.url}/#/session/${id}/plan`)
  const graph = t.page.getByRole("group", { name: "Plan as a graph" })
  await graph.getByRole("button", { name: /^step: Step one .*in progress$/ }).waitFor()
  assert.equal(await graph.getByRole("button").count(), 4)
  assert.equal(await graph.locator("path.edge").count(), 3)
  await graph.getByRole("button", { name: "plan: The plan" }).focus()
  await t.page.keyboard.press("ArrowDown")
  await t.page.getByLabel("Chosen node").getByText("Step one").waitFor()
  await t.page.getByText("0 of 3 steps done").waitFor()
  await prompt(t, id, "go on")
  await graph.getByRole("button", { name: /^step: Step one .*done$/ }).waitFor()
  await t.page.getByText("1 of 3 steps done").waitFor()
  await t.page.getByText("The plan as a list").click()
  await t.page.locator(".plan-list li", { hasText: "after: Step one" }).first().waitFor()
  assert.equal(await t.page.evaluate("window.ran"), undefined)
  assert.deepEqual(t.faults, [])
})

test("the Branches panel branches from a message, switches back, and forks", async () => {
  await using t = await openPage([text("First answer."), text(`Second ${html}`)])
  const { id } = await t.client.createSession({})
  await prompt(t, id, "one")
  await prompt(t, id, "two")
  await t.page.goto(`${t.url}/#/session/${id}/branches`)
  const panel = t.page.getByRole("tabpanel", { name: "Branches" })
  await panel.getByRole("button", { name: /First answer/ }).click()
  await panel.getByLabel("Name of the new branch").fill("other/way")
  await panel.getByRole("button", { name: "Branch from here" }).click()
  const tree = panel.getByRole("tree")
  await tree.getByRole("treeitem", { name: /other\/way.*active/ }).waitFor()
  assert.equal((await t.client.getSession({ id })).branch, "other/way")
  await until(
    async () => !/Second/.test((await t.page.locator(".talk").textContent())!),
    "the branch is shown",
  )
  await tree.getByRole("treeitem", { name: /main/ }).focus()
  await t.page.keyboard.press("Enter")
  await panel.getByRole("button", { name: "Switch to this branch" }).click()
  await tree.getByRole("treeitem", { name: /main.*active/ }).waitFor()
  assert.equal((await t.client.getSession({ id })).branch, "main")
  await tree.getByRole("treeitem", { name: /main/ }).press("ArrowLeft")
  await until(async () => (await tree.getByRole("treeitem").count()) === 1, "the tree is folded")
  await panel.getByRole("button", { name: /First answer/ }).click()
  await panel.getByRole("button", { name: "Fork into a new session" }).click()
  await until(() => !t.page.url().includes(id), "the fork is open")
  assert.equal((await t.client.listSessions()).length, 2)
  assert.equal(await t.page.evaluate("window.ran"), undefined)
  assert.deepEqual(t.faults, [])
})

test("the Context panel shows the parts of the window, and compacts the session", async () => {
  const long = "many words ".repeat(3_000)
  await using t = await openPage((request) =>
    /^You summarise/.test(request.system) ? text("A summary.") : text(long),
  )
  const { id } = await t.client.createSession({})
  for (const words of ["one", "two", "three"]) await prompt(t, id, words)
  await t.page.goto(`${t.url}/#/session/${id}/context`)
  const panel = t.page.getByRole("tabpanel", { name: "Context" })
  await panel.getByRole("img", { name: /The context has .* tokens/ }).waitFor()
  assert.ok((await panel.locator(".window-bar [data-part=conversation]").boundingBox())!.width > 0)
  assert.equal(await panel.locator(".window-bar [data-part=summary]").count(), 0)
  await panel.getByRole("button", { name: "Compact now" }).click()
  await panel.locator(".window-bar [data-part=summary]").waitFor()
  assert.deepEqual(t.faults, [])
})

test("the Cost panel plots the turns, and has them as a table by turn, model and agent", async () => {
  await using t = await openPage([
    text("One.", { usage: { input: 1_000, output: 100 } }),
    text("Two.", { usage: { input: 3_000, output: 50 } }),
  ])
  const { id } = await t.client.createSession({})
  await prompt(t, id, "one")
  await t.page.goto(`${t.url}/#/session/${id}/cost`)
  const panel = t.page.getByRole("tabpanel", { name: "Cost" })
  await panel
    .getByRole("img", { name: /Tokens per turn from turn 1 to turn 1: 1100/ })
    .locator(".series-0")
    .first()
    .waitFor()
  await prompt(t, id, "two")
  await panel.getByRole("img", { name: /Tokens per turn from turn 1 to turn 2: 4150/ }).waitFor()
  await panel.getByText("The turns as a table").click()
  const rows = panel.locator("details .figures tbody tr")
  assert.match((await rows.nth(1).textContent())!.replace(/\s+/g, " "), /^2\s?3000\s?0\s?50/)
  await panel.getByRole("row", { name: /fake-model.* build 2 4000 150/ }).waitFor()
  // The second turn sent three times as much as the first.
  const sent = await panel
    .getByRole("img", { name: /Tokens per turn/ })
    .locator(".bars .series-0")
    .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().height))
  assert.ok(Math.abs(sent[1]! / sent[0]! - 3) < 0.1, String(sent))
  const { prompts, rows: byModel } = await t.client.getCost({ id })
  assert.ok(prompts.every(({ duration }) => duration >= 0) && byModel[0]!.duration >= 0)
  assert.deepEqual(t.faults, [])
})

test("the Guards panel shows what a guard blocked as a timeline, while it happens", async () => {
  const guards = { "no-push": { block: "bash:git push*", because: `Nobody pushes ${html}` } }
  await using t = await openPage([call("bash", { command: "git push origin main" }), text("I may not.")], {
    config: { guards },
  })
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}/guards`)
  await t.page.getByText("Nothing has happened here").waitFor()
  await prompt(t, id, "push")
  const panel = t.page.getByRole("tabpanel", { name: "Guards" })
  await panel.getByText("1 blocked").waitFor()
  await panel.locator(".blocked-list", { hasText: "no-push: Nobody pushes <img" }).waitFor()
  assert.equal(await panel.locator("svg path.cross").count(), 1)
  assert.equal(await panel.locator("svg circle.blocked").count(), 1)
  assert.equal(await t.page.evaluate("window.ran"), undefined)
  assert.deepEqual(t.faults, [])
})

test("the Stories panel shows stories with their pictures, and gives out nothing but PNG files of the session", async () => {
  await using t = await openPage([call("world_run", {}), text("One fails.")], {
    args: ["--trust"],
    prepare(tmp) {
      tmp.write(
        ".vitamin/agents/interface.md",
        "---\ndescription: Builds components\ntools: [read, world_run]\n---\nYou build.\n",
      )
      tmp.write(
        "greeting.stories.ts",
        `const Greeting = ({ name }) => "<h1>Hello " + name + "</h1>"
           const parameters = { timeout: 30_000 }
           export const good = { intent: "Greets ${html.replaceAll('"', "'")}", component: Greeting, args: { name: "Ada" }, parameters, play: ({ findByText }) => findByText("Hello Ada") }
           export const bad = { intent: "Is wrong", component: Greeting, args: { name: "Bob" }, parameters, play: ({ findByText }) => findByText("Hello Ada") }\n`,
      )
    },
  })
  const { id } = await t.client.createSession({ agent: "interface" })
  await t.page.goto(`${t.url}/#/session/${id}/stories`)
  await t.page.getByText("No story ran in this session.").waitFor()
  await prompt(t, id, "run them")
  const panel = t.page.getByRole("tabpanel", { name: "Stories" })
  await panel.getByText("1 of 2 pass").waitFor()
  await panel.getByText(/No element with the text Hello Ada/).waitFor()
  await panel.getByText("Greets <img src=x").waitFor()
  const picture = panel.getByAltText("The page after the story bad")
  await picture.waitFor()
  await until(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth > 100), "it is decoded")
  const [story] = await t.client.listStories({ id })
  const data = join(t.tmp.env.XDG_DATA_HOME!, "vitamin/outputs", id, "stories", story!.callId)
  assert.ok(existsSync(join(data, "1.png")), data)
  // A picture of somebody else, behind a link.
  t.tmp.write("other.png", "")
  copyFileSync(join(data, "1.png"), join(t.tmp.path, "other.png"))
  symlinkSync(join(t.tmp.path, "other.png"), join(data, "7.png"))
  writeFileSync(join(data, "8.png"), "<svg onload='window.ran=1'>")
  writeFileSync(join(data, "9.json"), "{ broken")
  const asked = (callId: string, number: string) => t.client.getStoryPicture({ id, callId, number })
  assert.match((await asked(story!.callId, "1")).data, /^iVBORw0KGgo/)
  for (const [callId, number] of [
    [story!.callId, "7"],
    [story!.callId, "8"],
    [story!.callId, "99"],
    [story!.callId, "1.png"],
    ["call.other", "1"],
  ])
    await assert.rejects(asked(callId!, number!), { status: 404 }, `${callId} ${number}`)
  const path = `${t.url}/session/${id}/story`
  for (const wrong of [
    `${path}/..%2f${story!.callId}/1`,
    `${path}/${story!.callId}/..%2f${story!.callId}%2f1`,
  ])
    assert.equal((await fetch(wrong, { headers: { authorization: `Bearer ${t.token}` } })).status, 400, wrong)
  assert.equal((await t.client.listStories({ id })).length, 2)
  assert.equal(await t.page.evaluate("window.ran"), undefined)
  assert.deepEqual(t.faults, [])
})
