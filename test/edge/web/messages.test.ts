// How messages look on the page: Markdown, reasoning, calls with their changes and output, commands of the person, images.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { call, reasoning, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { layMessages, ran } from "./lay-messages.ts"
import { shows } from "./shows.ts"

const allowAll = { permission: [{ permission: "*", pattern: "**", action: "allow" }] }

test("an answer shows Markdown with coloured code that can be copied, and folds its reasoning", async () => {
  const code = 'export const port = 3141 // "the port"\nconst name = "x"\n'
  await using t = await openPage([
    reasoning(
      "I have to look.",
      text(`# Port\n\n- [x] done\n- two\n\n\`\`\`ts\n${code}\`\`\`\n\n| a |\n|---|\n| 1 |`),
    ),
  ])
  const { id } = await t.client.createSession({})
  await t.page.context().grantPermissions(["clipboard-read", "clipboard-write"])
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("Which port?")
  await t.page.getByLabel("Prompt").press("Enter")
  const answer = t.page.locator(".message.assistant:not(.live)")
  await answer.locator("table td", { hasText: "1" }).waitFor()
  assert.equal(await answer.locator("h2").textContent(), "Port")
  assert.equal(await answer.locator("input[type=checkbox][disabled]").count(), 1)
  assert.equal(await answer.locator(".k-keyword").first().textContent(), "export")
  assert.equal(await answer.locator(".k-comment").textContent(), '// "the port"')
  assert.equal(await answer.locator("details.reasoning[open]").count(), 0)
  assert.equal(await answer.locator("details.reasoning pre").textContent(), "I have to look.")
  const copied = shows(t.page, "Copied")
  await answer.locator(".code").getByRole("button", { name: "Copy" }).click()
  await copied
  assert.equal(await t.page.evaluate("navigator.clipboard.readText()"), code.trimEnd())
  await answer.hover()
  await answer.getByRole("button", { name: "Usage" }).click()
  assert.match((await answer.locator(".usage").textContent()) ?? "", /tokens sent .* answered/)
  assert.deepEqual(t.faults, [])
})

test("an edit shows its change with changed words, unified or side by side, and the choice stays", async () => {
  await using t = await openPage(
    [
      call("write", { path: "a.ts", content: "const one = 1\nconst two = 22\n" }),
      call("edit", { path: "a.ts", edits: [{ oldText: "two = 22", newText: "two = 23" }] }),
      text("Done."),
    ],
    { config: allowAll },
  )
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("edit it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("Done.").waitFor()
  const edit = t.page.locator(".call[data-kind=edit]").nth(1)
  await edit.locator("mark").nth(1).waitFor()
  assert.match((await edit.locator("summary").textContent()) ?? "", /Edit\s+a\.ts \(\+1 -1\)/)
  assert.deepEqual(await edit.locator("mark").allTextContents(), ["22", "23"])
  assert.deepEqual(await edit.locator("tr.removed .number").allTextContents(), ["2", ""])
  await edit.getByRole("button", { name: "Side by side" }).click()
  await edit.locator("td.removed.text + td.added.number + td.added.text", { hasText: "two = 23" }).waitFor()
  await t.page.reload()
  await t.page.locator("[data-split=true] mark", { hasText: "23" }).waitFor()
  assert.deepEqual(t.faults, [])
})

test("a long change is drawn in parts", async () => {
  const content = Array.from({ length: 5_000 }, (_, i) => `line ${i}\n`).join("")
  await using t = await openPage([call("write", { path: "long.txt", content }), text("Done.")], {
    config: allowAll,
  })
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("write it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("Done.").waitFor()
  const rows = t.page.locator(".diff tr")
  await until(async () => (await rows.count()) === 100, "100 rows")
  await t.page.getByRole("button", { name: /^Show / }).click()
  await until(async () => (await rows.count()) > 100, "more rows")
  assert.ok((await rows.count()) <= 2_100)
})

test("printed output has its colours and none of its control sequences", async () => {
  const output =
    "\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\ 10%\r20%\n\u001b[2Jend \u001b[38;5;46mg\u001b[m \u009b1mbold\u202e"
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, ran({ name: "shop__print", arguments: { what: "it" } }, output))
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  const run = t.page.locator(".call")
  await run.locator("summary").click()
  const printed = run.locator("pre.output").last()
  assert.equal(await printed.locator(".fg-1").textContent(), "red")
  assert.equal(await printed.locator(".fg-10").textContent(), "g")
  assert.equal(await printed.locator(".t-bold").textContent(), "bold‹U+202E›")
  assert.match((await printed.textContent()) ?? "", /20%\nend g/)
  assert.doesNotMatch((await printed.textContent()) ?? "", /title|evil|10%|2J/)
  assert.equal(await printed.locator("a").count(), 0)
})

test("the colours of a command are shown, of the model and of a person, and other sequences are not", async () => {
  const command =
    "printf '\\033[1;31mred\\033[0m and \\033[38;5;10mgreen\\033[0m\\033]0;title\\007\\033[8m shy\\n'"
  await using t = await openPage([call("bash", { command }), text("Done.")], {
    config: { permission: [{ permission: "*", pattern: "**", action: "allow" }] },
  })
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const box = t.page.getByLabel("Prompt")
  await box.fill("run it")
  await box.press("Enter")
  await t.page.getByText("Done.").waitFor()
  await t.page.locator(".call summary").click()
  await box.fill(`!${command}`)
  await box.press("Enter")
  await t.page.locator(".shell .output .fg-1").waitFor()
  for (const place of [".call", ".shell"]) {
    const output = t.page.locator(`${place} .output`).last()
    assert.equal(await output.textContent(), "red and green shy\n")
    assert.equal(await output.locator(".fg-1.t-bold").textContent(), "red")
    assert.equal(await output.locator(".fg-10").textContent(), "green")
    assert.equal(await output.locator("span").count(), 2)
  }
  assert.deepEqual(t.faults, [])
})

test("a command of the person runs with !, and its output is shown", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("!echo it-ran; exit 3")
  await t.page.getByRole("button", { name: "Run" }).click()
  const shell = t.page.locator(".message.shell")
  await shell.locator("pre", { hasText: "it-ran" }).waitFor()
  await shell.getByText("Exit code 3").waitFor()
  assert.match((await shell.locator(".command").textContent()) ?? "", /! echo it-ran; exit 3/)
})

test("an image of a prompt is pasted, shown before and after it is sent, and can be removed", async () => {
  await using t = await openPage([text("I see it.")])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  const png = image("note.png").toString("base64")
  const paste = (type: string, data: string) =>
    t.page.getByLabel("Prompt").evaluate(
      (box, { type, data }) => {
        const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0))
        const transfer = new DataTransfer()
        transfer.items.add(new File([bytes], "note.png", { type }))
        box.dispatchEvent(
          new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }),
        )
      },
      { type, data },
    )
  await paste("image/svg+xml", btoa("<svg/>"))
  await t.page.getByText("is no PNG, JPEG, GIF or WebP image").waitFor()
  await paste("image/png", png)
  await paste("image/png", png)
  await until(async () => (await t.page.locator(".pictures img").count()) === 2, "two previews")
  await t.page.getByRole("button", { name: "Remove note.png" }).first().click()
  await t.page.getByLabel("Prompt").fill("What is this?")
  await t.page.getByRole("button", { name: "Send" }).click()
  await t.page.locator(".picture img").waitFor()
  assert.ok(
    await t.page.locator(".picture img").evaluate(async (img: HTMLImageElement) => {
      await img.decode()
      return img.naturalWidth > 0
    }),
  )
  assert.equal(await t.page.locator(".picture img").count(), 1)
  assert.deepEqual(t.faults, [])
})

test("a task of another agent is shown inside its call, with its messages and a way to its session", async () => {
  await using t = await openPage(
    ({ messages }) => {
      const last = JSON.stringify(messages.at(-1))
      if (last.includes("count the files") && !last.includes("two")) return text("There are **two** files.")
      return last.includes("two") ? text("All done.") : call("subtask", { task: "count the files" })
    },
    { config: allowAll },
  )
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("delegate it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("All done.").waitFor()
  const task = t.page.locator(".call .task")
  await task.locator("summary").click()
  await task.locator(".message.assistant strong", { hasText: "two" }).waitFor()
  await task.getByRole("link", { name: "Open the session of this task" }).click()
  await until(() => !t.page.url().includes(id), "the session of the task")
  await t.page.locator(".message.assistant strong", { hasText: "two" }).waitFor()
  assert.deepEqual(t.faults, [])
})

test("a message is undone with its files, and a prompt is written again on a new branch", async () => {
  await using t = await openPage(
    [call("write", { path: "made.txt", content: "x\n" }), text("First answer."), text("Second answer.")],
    { config: allowAll },
  )
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("one")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("First answer.").waitFor()
  await until(async () => (await t.client.getSession({ id })).status === "idle", "idle")
  await t.page.locator(".message.user").hover()
  await t.page.locator(".message.user").getByRole("button", { name: "Branch" }).click()
  await until(async () => (await t.page.locator(".message.user").count()) === 0, "the empty branch")
  await t.page.getByLabel("Prompt").fill("two")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.getByText("Second answer.").waitFor()
  await until(async () => (await t.client.getSession({ id })).status === "idle", "idle")
  assert.equal((await t.client.listBranches({ id })).length, 2)
  await t.client.switchBranch({ id, name: "main" })
  await t.page.getByText("First answer.").waitFor()
  await t.page.locator(".message.user").hover()
  await t.page.locator(".message.user").getByRole("button", { name: "Undo…" }).click()
  await t.page.getByRole("dialog").getByText("made.txt").waitFor()
  await t.page.getByRole("dialog").getByRole("button", { name: "Undo" }).click()
  await until(async () => (await t.page.locator(".message").count()) === 0, "nothing left")
  assert.equal(existsSync(join(t.tmp.path, "made.txt")), false)
  assert.deepEqual(t.faults, [])
})
