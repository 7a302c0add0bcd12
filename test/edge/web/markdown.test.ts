// Markdown on the page: which elements each construct becomes, in a finished answer and in one that grows.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Page } from "playwright-core"
import { text } from "../../fixture/fake-llm.ts"
import { until } from "../../fixture/until.ts"
import { openPage } from "./harness.ts"
import { layMessages, says } from "./lay-messages.ts"

const constructs: [markdown: string, elements: string][] = [
  ["### One\n\n# Two\n\n###### Three\n\n## Four", "<h2>One</h2><h2>Two</h2><h3>Three</h3><h3>Four</h3>"],
  [
    "a **b** *c* ~~d~~ `<e>` \\*f\\*",
    "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>&lt;e&gt;</code> *f*</p>",
  ],
  ["one  \ntwo<br>three", "<p>one<br>two<br>three</p>"],
  ["> quoted\n>\n> > twice", "<blockquote><p>quoted</p><blockquote><p>twice</p></blockquote></blockquote>"],
  [
    "3. three\n4. four\n   - inside",
    '<ol start="3"><li>three</li><li>four<ul><li>inside</li></ul></li></ol>',
  ],
  ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
  [
    "- [x] done\n- [ ] open",
    '<ul><li><input type="checkbox" disabled="" aria-label="Done"> done</li><li><input type="checkbox" disabled="" aria-label="Done"> open</li></ul>',
  ],
  [
    "| a | b |\n|:-:|--:|\n| 1 | `2` |",
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th class="to-center">a</th><th class="to-right">b</th></tr></thead><tbody><tr><td class="to-center">1</td><td class="to-right"><code>2</code></td></tr></tbody></table></div>',
  ],
  ["---", "<hr>"],
  [
    "[a](https://x.example/?a=1&amp;b=2) https://y.example m@z.example",
    [
      '<p><a href="https://x.example/?a=1&amp;b=2" title="https://x.example/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">a</a>',
      '<a href="https://y.example/" title="https://y.example/" target="_blank" rel="noopener noreferrer">https://y.example</a>',
      '<a href="mailto:m@z.example" title="mailto:m@z.example" target="_blank" rel="noopener noreferrer">m@z.example</a></p>',
    ].join(" "),
  ],
  ["[a](src/a.ts) [b](#/server) ![c](javascript:1)", "<p><span>a</span> <span>b</span> <span>c</span></p>"],
  [
    "[a][1]\n\n[1]: https://x.example/1",
    '<p><a href="https://x.example/1" title="https://x.example/1" target="_blank" rel="noopener noreferrer">a</a></p>',
  ],
  [
    "&lt;b&gt; &copy; &#8364; &#x202e; &unknown; &constructor;",
    "<p>&lt;b&gt; © € ‹U+202E› &amp;unknown; &amp;constructor;</p>",
  ],
  [
    "<b>x</b> <!-- y -->",
    '<p><span class="as-written">&lt;b&gt;</span>x<span class="as-written">&lt;/b&gt;</span> <span class="as-written">&lt;!-- y --&gt;</span></p>',
  ],
  [`${">".repeat(60)} deep`, `${"<blockquote>".repeat(39)}`],
]

const shownIn = (page: Page, message: string) =>
  page.locator(`${message} .markdown`).evaluateAll((all) => all.map((one) => one.innerHTML))

test("each construct of Markdown becomes its elements, and HTML inside it stays text", async () => {
  let id = ""
  await using t = await openPage([], {
    prepare(tmp) {
      id = layMessages(
        tmp.path,
        constructs.map(([markdown]) => says("assistant", markdown)),
      )
    },
  })
  await t.page.goto(`${t.url}/#/session/${id}`)
  await until(async () => (await t.page.locator(".message").count()) === constructs.length, "all are shown")
  const shown = await shownIn(t.page, ".message")
  for (const [i, [markdown, elements]] of constructs.entries())
    if (markdown.includes("deep"))
      assert.ok(shown[i]!.startsWith(elements) && /deep/.test(shown[i]!), shown[i])
    else assert.equal(shown[i], elements, markdown)
  assert.deepEqual(
    await t.page
      .locator(".message input")
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked)),
    [true, false],
  )
  assert.deepEqual(t.faults, [])
})

test("an answer that grows has the same elements as when it is finished, but for its last block", async () => {
  // A definition changes links above it, which a growing answer does not draw again.
  const known = constructs.filter(([markdown]) => !markdown.startsWith("[a][1]"))
  const answer = known.map(([markdown]) => markdown).join("\n\nand\n\n")
  const drawn = Promise.withResolvers<void>()
  const gate = (piece: number) => (piece === 299 ? drawn.promise : undefined)
  await using t = await openPage([text(`${answer}\n\nthe end`, { deltas: 300, delay: 2, gate })])
  const { id } = await t.client.createSession({})
  await t.page.goto(`${t.url}/#/session/${id}`)
  await t.page.getByLabel("Prompt").fill("tell it")
  await t.page.evaluate(() => {
    const seen = window as unknown as { grown: string[] }
    seen.grown = []
    new MutationObserver(() => {
      const blocks = [...document.querySelectorAll(".live .markdown > *")].slice(0, -1)
      if (blocks.length) seen.grown = blocks.map((one) => one.outerHTML)
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  await t.page.getByLabel("Prompt").press("Enter")
  const grownTo = () => t.page.evaluate("window.grown.length") as Promise<number>
  await until(async () => (await grownTo()) > known.length, "most of the answer is drawn")
  drawn.resolve()
  await t.page.locator(".message.assistant:not(.live)").waitFor()
  const finished = await t.page
    .locator(".message.assistant:not(.live) .markdown > *")
    .evaluateAll((all) => all.map((one) => one.outerHTML))
  const grown = (await t.page.evaluate("window.grown")) as string[]
  assert.deepEqual(finished.slice(0, grown.length), grown)
  assert.deepEqual(t.faults, [])
})
