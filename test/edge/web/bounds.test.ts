// Bounds of what the page draws: text that would take it seconds is shown plainly, and a part that cannot be drawn leaves the
// rest as it is.
import assert from "node:assert/strict"
import { test } from "node:test"
import { call, text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { layMessages, ran, says } from "./lay-messages.ts"

test("Markdown that is too long, too deep or too wide is shown as it was written", async () => {
  const heavy = [
    "**b** ".repeat(40_000),
    `${">".repeat(150)} deep`,
    "`".repeat(4_000),
    `${"  ".repeat(70)}- deep list`,
  ]
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(
        tmp.path,
        heavy.flatMap((one, n) => [says("user", `number ${n}`), says("assistant", one)]),
      )
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  const answers = t.page.locator(".message.assistant")
  await until(async () => (await answers.count()) === heavy.length, "the answers")
  for (const [n, one] of heavy.entries()) {
    assert.equal((await answers.nth(n).locator("pre.plain").textContent())?.trim(), one.trim(), `number ${n}`)
    assert.equal(await answers.nth(n).locator(".markdown").count(), 0)
  }
  assert.deepEqual(t.faults, [])
})

test("quotes inside each other are drawn to a depth, and long code without colours", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, [
        says("user", "go"),
        says("assistant", `${"> ".repeat(90)}deep`),
        says("assistant", `\`\`\`ts\n${"const a = 1\n".repeat(3_000)}\`\`\``),
        says("assistant", "```ts\nconst a = 1\n```"),
      ])
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  const answers = t.page.locator(".message.assistant")
  await until(async () => (await answers.count()) === 3, "the answers")
  assert.match((await answers.nth(0).textContent()) ?? "", /deep/)
  const depth = await answers.nth(0).locator("blockquote").count()
  assert.ok(depth > 30 && depth <= 41, `${depth} quotes`)
  assert.equal(await answers.nth(1).locator(".k-keyword").count(), 0)
  assert.equal(await answers.nth(2).locator(".k-keyword").count(), 1)
})

test("a block of an answer that grows beyond its bound is text until it is complete", async () => {
  const long = `**one** ${"word ".repeat(6_000)}`
  const [begun, grown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const gate = (piece: number) => ({ 10: begun.promise, 190: grown.promise })[piece]
  await using t = await openPage([text(`${long}\n\nEnd.`, { deltas: 200, gate })])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("tell it")
  await t.page.getByLabel("Prompt").press("Enter")
  await t.page.locator(".message.live .markdown > p strong").waitFor()
  begun.resolve()
  await t.page.locator(".message.live .markdown > pre.plain").waitFor()
  grown.resolve()
  await t.page.locator(".message.assistant:not(.live) .markdown > p strong").waitFor()
})

test("output of a tool has a bound of characters, and of pieces with a colour", async () => {
  const colours = Array.from({ length: 6_000 }, (_, n) => `\u001b[3${n % 7}mx`).join("")
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, [
        says("user", "go"),
        ...ran({ name: "shop__colours", arguments: {} }, colours),
        ...ran({ name: "shop__long", arguments: {} }, "y".repeat(60_000)),
      ])
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  const output = (n: number) => t.page.locator(".call").nth(n).locator("pre.output").last()
  await t.page.locator(".call summary").nth(1).waitFor()
  for (const n of [0, 1]) await t.page.locator(".call summary").nth(n).click()
  assert.equal(await output(0).textContent(), "x".repeat(6_000))
  assert.ok((await output(0).locator("span").count()) <= 5_000)
  assert.equal(await output(1).textContent(), `${"y".repeat(50_000)}\n… 10000 more characters`)
})

test("a view, a panel or a question that cannot be drawn leaves the rest of the page", async () => {
  await using t = await openPage([call("bash", { command: "touch one" }), text("Done.")])
  const { id } = await t.client.createSession({ title: "The work" })
  const broken = new Map([
    ["/context", { body: "{}" }],
    ["/stats", { body: '{"days":[null],"total":null,"rows":[null]}' }],
    [
      "/question",
      {
        body: '[{"kind":"permission","directory":"/","time":1,"request":{"id":"perm_1","needs":[null],"sessionId":"SESSION"}}]',
      },
    ],
  ])
  for (const [path, { body }] of broken)
    await t.page.route(
      (url) => url.pathname.endsWith(path),
      (route) => route.fulfill({ contentType: "application/json", body: body.replace("SESSION", id) }),
    )
  await t.page.goto(`${t.url}/#/session/${id}/context`)
  await t.page.getByText(/^This panel cannot be shown/).waitFor()
  await t.page.getByLabel("Prompt").waitFor()
  await t.page.goto(`${t.url}/#/stats`)
  await t.page.getByText(/^This view cannot be shown/).waitFor()
  await t.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await until(async () => (await t.client.listPermissions()).length === 1, "the question")
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.reload()
  await t.page.getByText(/^A question cannot be shown/).waitFor()
  await t.page.getByLabel("Prompt").waitFor()
  // What can be drawn again is drawn.
  await t.page.unrouteAll()
  await t.page.goto(`${t.url}/#/stats`)
  await t.page.reload()
  await t.page.getByRole("heading", { name: "Stats" }).waitFor()
  assert.equal(await t.page.getByText(/cannot be shown/).count(), 0)
})
