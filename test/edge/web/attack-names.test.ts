// Names, values and texts of others in every view: nothing runs or loads, and nothing hides how it is read.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Page } from "playwright-core"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { layMessages, ran, says } from "./lay-messages.ts"

/** A tag character, as used to hide instructions in text. */
const tag = String.fromCodePoint(0xe0041)
const attack = `<img src=x onerror="window.hacked=1"><a href="javascript:window.hacked=1">x</a>\u202etxt.exe\u200b${tag}`

/** What must not be in the page: elements and addresses that text planted, and characters that hide something. */
function planted(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const hides = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u
    const bad: string[] = []
    if (hides.test(document.title)) bad.push(`title ${document.title}`)
    for (const one of document.querySelectorAll("#page *")) {
      if (/^(script|iframe|object|embed|base|meta|link|style|template|img)$/i.test(one.tagName))
        bad.push(one.outerHTML)
      for (const child of one.childNodes)
        if (child.nodeType === Node.TEXT_NODE && hides.test(child.nodeValue ?? ""))
          bad.push(`text of ${one.outerHTML.slice(0, 200)}`)
      for (const { name, value } of one.attributes) {
        if (/^on/i.test(name) || /^\s*(javascript|data|vbscript):/i.test(value)) bad.push(`${name}=${value}`)
        if (/^(title|alt|placeholder|aria-label)$/.test(name) && hides.test(value))
          bad.push(`${name}=${value}`)
      }
    }
    return bad
  })
}

test("hostile names of servers, tools, agents, skills, commands, guards, models, settings and branches are only text", async () => {
  const yaml = JSON.stringify(attack)
  await using t = await openPage(
    [
      call("todo", {
        todos: [{ id: "one", text: attack, status: "pending" }],
        title: attack,
        replace: true,
      }),
      call("bash", { command: `echo '${attack}'` }),
      text("Done."),
      call("bash", { command: `touch '${attack}'` }),
    ],
    {
      args: ["--trust"],
      config: {
        guards: { [attack]: { block: "bash:echo*", because: attack } },
        provider: { openai: { models: { [attack]: { name: attack } } } },
      },
      prepare(tmp) {
        const tools = [{ name: "count", description: attack }]
        const resources = [{ uri: `note://${encodeURIComponent(attack)}`, name: attack, text: "x" }]
        const server = tinyServer({ tools, resources, prompts: { greet: attack } })
        tmp.write(".mcp.json", mcpJson({ notes: server, [attack]: { command: attack } }))
        tmp.write(
          ".vitamin/agents/evil.md",
          `---\nname: ${yaml}\ndescription: ${yaml}\n---\nYou are ${attack}`,
        )
        tmp.write(".vitamin/skills/evil/SKILL.md", `---\nname: evil\ndescription: ${yaml}\n---\n${attack}`)
        tmp.write(".vitamin/commands/evil.md", `---\ndescription: ${yaml}\n---\n${attack}\n`)
      },
    },
  )
  const foreign: string[] = []
  t.page.on("request", (request) => {
    if (!request.url().startsWith(t.url)) foreign.push(request.url())
  })
  const { id } = await t.client.createSession({ title: attack })
  await t.client.promptSession({ id, text: `do ${attack}`, asks: "once" })
  const [first] = await t.client.listMessages({ id })
  await t.client.switchBranch({ id, name: "other", from: first!.id })
  const other = await t.client.createSession({ title: attack })
  await t.client.promptSession({ id: other.id, text: "ask", prefer: "respond-async" })
  await until(async () => (await t.client.listPermissions()).length, "a question")
  // Files that wait for review, with names and content that lie about themselves.
  t.tmp.write(`.vitamin/agents/x\u202eexe.md`, `---\ndescription: ${yaml}\n---\n${attack}`)
  t.tmp.write(".vitamin/hooks.json", JSON.stringify({ hooks: { Stop: [{ matcher: attack }] } }))
  const folder = `#/folder/${encodeURIComponent(t.tmp.path)}`
  const parts = "/mcp /tools /skills /agents /models /permissions /trust /settings /stats".split(" ")
  const panels = "changes plan branches context cost guards stories".split(" ")
  const places = [
    "#/events",
    "#/",
    folder,
    ...parts.map((part) => folder + part),
    `#/session/${id}`,
    ...panels.map((panel) => `#/session/${id}/${panel}`),
    `#/session/${other.id}`,
    "#/stats",
    "#/server",
  ]
  for (const place of places) {
    await t.page.goto(`${t.url}/${place}`)
    await t.page.locator("main :is(h1, h2, .message, .panel)").first().waitFor()
    await until(
      async () => (await t.page.locator("main [aria-busy=true]").count()) === 0,
      `${place} is loaded`,
    )
    await t.page.evaluate(() => {
      for (const fold of document.querySelectorAll("details")) fold.open = true
    })
    await t.page.waitForTimeout(200)
    assert.deepEqual(await planted(t.page), [], place)
    assert.equal(await t.page.evaluate("window.hacked"), undefined, place)
  }
  // It is there to read, with what would hide the rest written out.
  await t.page.goto(`${t.url}/${folder}/trust`)
  await t.page.getByText("x‹U+202E›exe.md").first().waitFor()
  await t.page.getByText("‹U+E0041›").first().waitFor()
  assert.deepEqual(foreign, [])
  assert.deepEqual(t.faults, [])
})

test("text that is huge, deep or slow to parse is shown, and the page goes on", async () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => (i % 2 ? `+added ${i}` : `-removed ${i}`)).join(
    "\n",
  )
  let id = ""
  const messages = [
    says("user", "show it"),
    ...ran({ name: "edit", arguments: { path: "a" } }, "edited", {
      data: { diff: `--- a/a\n+++ b/a\n@@ -1,50000 +1,50000 @@\n${lines}\n` },
    }),
    ...ran({ name: "edit", arguments: { path: "b" } }, "edited", {
      data: { diff: `@@ -1 +1 @@\n-${"a b ".repeat(200_000)}\n+${"a c ".repeat(200_000)}\n` },
    }),
    ...ran({ name: "bash", arguments: { command: "one line" } }, `\r${"x".repeat(49_000)}`),
    ...ran({ name: "bash", arguments: { command: "colours" } }, "\u001b[31mx\u001b[32my".repeat(5_000)),
    ...[
      ">".repeat(10_000),
      "> ".repeat(10_000),
      "1. ".repeat(10_000),
      `${"*".repeat(10_000)}a${"*".repeat(10_000)}`,
      `${"a.".repeat(50_000)}@`,
      "a**b".repeat(25_000),
      Array.from({ length: 300 }, (_, i) => `${" ".repeat(2 * i)}- x`).join("\n"),
      `\`\`\`js\n${'"\\'.repeat(14_000)}\n\`\`\``,
      `\`\`\`js\n${"/* ".repeat(9_000)}\n\`\`\``,
    ].map((words) => says("assistant", words)),
    says("assistant", "The end."),
  ]
  await using t = await openPage(
    ({ messages }) => {
      const asked = JSON.stringify(messages.slice(-3))
      if (asked.includes("and now?")) return text("Still here.")
      return text(asked.includes("a deep answer") ? "> ".repeat(10_000) : "A summary.", { deltas: 50 })
    },
    {
      prepare(tmp) {
        id = layMessages(tmp.path, messages)
      },
    },
  )
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByText("The end.").waitFor()
  const box = t.page.getByLabel("Prompt")
  for (const words of ["a deep answer", "and now?"]) {
    await box.fill(words)
    await box.press("Enter")
    const isDone = async () =>
      (await t.client.getSession({ id })).status === "idle" &&
      (await t.client.listMessages({ id, last: "1" }))[0]?.type === "text"
    await t.page.locator(".message.user", { hasText: words }).waitFor()
    await until(isDone, "it is answered")
  }
  await t.page.getByText("Still here.").waitFor()
  assert.equal(await t.page.getByText("cannot be shown").count(), 0)
  assert.deepEqual(t.faults, [])
})
