// What models, files, servers and broken events could try against the page: nothing runs, nothing breaks it.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Page } from "playwright-core"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { type Laid, layMessages, ran, says } from "./lay-messages.ts"
import { startProxy } from "./proxy.ts"
import { shows } from "./shows.ts"

const script = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
const markdown = [
  script,
  "<svg><script>window.hacked=1</script><a xlink:href='javascript:window.hacked=1'><text>x</text></a></svg>",
  "<svg onload=window.hacked=1>",
  "[one](javascript:window.hacked=1) [two](JaVaScRiPt&colon;window.hacked=1) [three](data:text/html,<script>1</script>)",
  "[four](vbscript:x) <a href='jav&#x09;ascript:window.hacked=1'>five</a> [six](file:///etc/passwd)",
  "![image](https://tracker.example/x.png) ![svg](data:image/svg+xml,<svg/>)",
  "<iframe src=https://evil.example srcdoc='<script>parent.hacked=1</script>'></iframe><object data=x></object><embed src=x>",
  "<form action=https://evil.example><input name=password><button>Sign in</button></form>",
  "<base href=https://evil.example><meta http-equiv=refresh content='0;url=https://evil.example'><link rel=stylesheet href=//evil.example>",
  "<style>body{display:none}</style><p style='position:fixed;inset:0'>cover</p>",
  "<p class='problems question' id='page' name='main'>clobber</p><a id=location name=location>x</a><img name=getElementById>",
  "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=window.hacked=1&gt;'>",
  "<noscript><p title='</noscript><img src=x onerror=window.hacked=1>'>",
  "<svg></p><style><a id='</style><img src=1 onerror=window.hacked=1>'>",
  "<template><script>window.hacked=1</script></template><details open ontoggle=window.hacked=1>x</details>",
  "```html\n<img src=x onerror=window.hacked=1>\n```",
  "`<img src=x onerror=window.hacked=1>` safe\u202etxt.exe",
].join("\n\n")

const name = `${script}\u202egnp.js`

function messages(): Laid[] {
  const diff = `--- a/${name}\n+++ b/${name}\n@@ -1,1 +1,1 @@\n-${script}\n+${script}!\n`
  return [
    says("user", markdown),
    says("assistant", markdown),
    { type: "file_reference", data: { path: name, status: "resolved", content: script } },
    {
      type: "mcp_resource",
      data: {
        serverName: name,
        resourceUri: `x:${script}`,
        content: script,
        mimeType: "text/html",
        retrievedAt: 1,
      },
    },
    { type: "system_control", data: { control: script, parameters: { from: script } } },
    ...ran({ name: script, arguments: { [script]: script } }, script),
    ...ran({ name: "edit", arguments: { path: name } }, "edited", { title: name, data: { diff } }),
    ...ran(
      { name: "bash", arguments: { command: script } },
      `\u001b]8;;javascript:window.hacked=1\u0007x\u001b]8;;\u0007${script}`,
    ),
    {
      type: "text",
      data: {
        role: "system",
        parts: [{ type: "text", text: script }],
        origin: { kind: "rule", name: script },
      },
    },
    {
      type: "image",
      data: {
        source: { kind: "url", value: "https://tracker.example/x.png" },
        mode: "auto",
        state: "failed",
        error: script,
      },
    },
    says("assistant", "The end."),
  ]
}

/** Elements and addresses that text must never make. */
function planted(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bad = [
      ...document.querySelectorAll(
        "#page :is(script, svg, iframe, object, embed, base, meta, link, style, math, template, noscript), .message form, .message img, .message button:not(.small), .message [style], .message [id], .message [name]",
      ),
    ].map((one) => one.outerHTML)
    for (const one of document.querySelectorAll("#page *"))
      for (const { name, value } of one.attributes) {
        if (/^on/i.test(name)) bad.push(`${name}=${value}`)
        if (
          /^(href|src|action|formaction|xlink:href)$/i.test(name) &&
          !/^(https?:|mailto:|#|data:image\/png)/.test(value)
        )
          bad.push(`${name}=${value}`)
      }
    return bad
  })
}

test("nothing that a model, a file, a tool or a server wrote runs, loads or lies above the page", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, messages(), name)
    },
  })
  const foreign: string[] = []
  t.page.on("request", (request) => {
    if (!request.url().startsWith(t.url) && !request.url().startsWith("data:")) foreign.push(request.url())
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByText("The end.").waitFor()
  await t.page.evaluate(() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true
  })
  assert.deepEqual(await planted(t.page), [])
  assert.equal(await t.page.evaluate("window.hacked"), undefined)
  assert.deepEqual(foreign, [])
  assert.deepEqual(t.faults, [])
  const policy = await t.page.evaluate(
    "try { trustedTypes.createPolicy('x', {}) } catch (error) { error.name }",
  )
  assert.equal(policy, "TypeError", "no script can make HTML")
  const classes = await t.page.locator(".message .problems, .message .question").count()
  assert.equal(classes, 0)
  // What was written is there to read, with the characters that would reorder it.
  assert.match((await t.page.locator(".head h1").textContent()) ?? "", /<script>.*‹U\+202E›gnp\.js/)
  assert.match(
    (await t.page.locator(".call .subject", { hasText: "gnp.js" }).first().textContent()) ?? "",
    /‹U\+202E›/,
  )
  assert.ok((await t.page.locator(".code", { hasText: "<img src=x" }).count()) > 0)
  await t.page.goto(`${t.url}/#/`)
  await t.page.locator(".rows .title", { hasText: "<script>" }).waitFor()
  assert.equal(await t.page.evaluate("window.hacked"), undefined)
  // The policy that the test tried to make, and nothing else.
  assert.deepEqual(
    t.faults.filter((fault) => !/trusted-types|TrustedTypePolicy/i.test(fault)),
    [],
  )
})

test("broken and unknown events leave the page as it is", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(tmp.path, [says("user", "hello"), says("assistant", "Here I am.")])
    },
  })
  await using proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  const errors: string[] = []
  page.on("pageerror", (error) => errors.push(error.message))
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  await page.goto(`${proxy.url}/#/session/${id}`)
  await page.getByText("Here I am.").waitFor()
  const base = { time: 1, directory: t.tmp.path }
  const message = (data: unknown, more: object = {}) => ({
    ...base,
    type: "message.created",
    payload: {
      sessionId: id,
      message: {
        id: `msg_z${Math.random()}`,
        sessionId: id,
        parentId: null,
        branch: "main",
        time: 1,
        schema: 1,
        data,
        ...more,
      },
    },
  })
  const events: unknown[] = [
    null,
    5,
    "text",
    {},
    { type: 5 },
    { type: "of.tomorrow", payload: { sessionId: id } },
    { ...base, type: "message.created" },
    { ...base, type: "message.created", payload: null },
    { ...base, type: "message.created", payload: { sessionId: id, message: { id: 5 } } },
    { ...base, type: "message.delta", payload: { sessionId: id, messageId: "msg_x", kind: "text" } },
    {
      ...base,
      type: "message.delta",
      payload: { sessionId: id, messageId: "msg_x", kind: "other", text: {} },
    },
    { ...base, type: "session.updated", payload: { sessionId: id, session: { id } } },
    { ...base, type: "session.updated", payload: { sessionId: id, session: null } },
    { ...base, type: "tool.progress", payload: { sessionId: id, callId: 5, text: 7 } },
    { ...base, type: "permission.requested", payload: null },
    { ...base, type: "permission.requested", payload: { id: "per_1", sessionId: id } },
    { ...base, type: "permission.requested", payload: { id: "per_2", sessionId: id, needs: [null] } },
    { ...base, type: "elicitation.requested", payload: { id: "eli_1", sessionId: id, message: {} } },
    { ...base, type: "elicitation.requested", payload: { id: "eli_2", message: "x", fields: [null] } },
    { ...base, type: "permission.replied", payload: {} },
    message({ role: "assistant" }, { type: "text" }),
    message({ role: "assistant", parts: 5 }, { type: "text" }),
    message({ role: "assistant", parts: [{ type: "text" }, null], finish: "stop" }, { type: "text" }),
    message({ calls: "x" }, { type: "tool_request" }),
    message({ calls: [{ id: "c", name: 5 }] }, { type: "tool_request" }),
    message({}, { type: "image" }),
    message({}, { type: "of_tomorrow" }),
    message({}, { type: "system_control" }),
    message({}, { type: "mcp_resource" }),
  ]
  for (const event of events) proxy.inject(`data: ${JSON.stringify(event)}\n\n`)
  await page.getByText("A message that this page cannot show.").first().waitFor()
  await until(async () =>
    /of a type that this page does not know/.test((await page.textContent("body")) ?? ""),
  )
  assert.equal(await page.getByText("Here I am.").count(), 1)
  assert.deepEqual(errors, [])
  // It still works.
  await page.getByLabel("Prompt").fill("!echo still-here")
  await page.getByLabel("Prompt").press("Enter")
  await page.locator(".message.shell", { hasText: "still-here" }).waitFor()
})

test("a stream with something that is no JSON is left and opened again", async () => {
  await using t = await openPage([])
  await using proxy = await startProxy(t.url)
  const page = await t.page.context().newPage()
  const { code } = await t.client.createBrowserCode()
  await page.goto(`${proxy.url}/#code=${code}`)
  await page.getByText("Connected").waitFor()
  const lost = shows(page, "Connection lost")
  proxy.inject("data: {not json\n\n")
  await lost
  await page.getByText("Connected").waitFor()
})
