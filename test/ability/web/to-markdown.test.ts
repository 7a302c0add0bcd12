// Web pages as Markdown, including pages that are made to overload the parser.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { toMarkdown } from "#ability/web/to-markdown.ts"
import { stripTags } from "#util/parse/strip-tags.ts"

const { signal } = new AbortController()
const read = (html: string) => toMarkdown(html, "https://example.com/docs/page", signal)

test("toMarkdown() keeps headings, lists, code and its language, tables and images", async () => {
  const { text, isPlain } = await read(`<html><body><main>
    <h2 id=a>Part<a href="#a">¶</a></h2>
    <ul><li>one</li><li>two<ol start=3><li>three</li><li>four</li></ol></li></ul>
    <div class="highlight-python"><pre><span>def</span> f():\n    return "\`\`\`"</pre></div>
    <table><tr><th>A</th><th>B</th></tr><tr><td>1|2</td><td></td></tr><tr><td><code>x</code></td><td>3<br>4</td></tr></table>
    <p><img src="pic.png" alt="A picture"><img src="data:image/png;base64,AAAA" alt="inline"><img src="dot.gif"></p>
    <p>snake_case and <a href="javascript:x()">a script</a>, <a href="//other.com/a_(b)">other</a></p>
  </main></body></html>`)
  assert.equal(isPlain, false)
  assert.equal(
    text,
    [
      "## Part",
      "- one\n- two\n  3. three\n  4. four",
      '````python\ndef f():\n    return "```"\n````',
      "| A | B |\n| --- | --- |\n| 1\\|2 |  |\n| `x` | 3 4 |",
      "![A picture](https://example.com/docs/pic.png)",
      "snake_case and a script, [other](https://other.com/a_%28b%29)",
    ].join("\n\n"),
  )
})

test("toMarkdown() shows the whole body if it finds no article, also of pages without head and body", async () => {
  const links = Array.from({ length: 30 }, (_, i) => `<div><a href="/item/${i}">Item ${i}</a></div>`).join("")
  const front = await read(
    `<html><head><base href="https://base.example/"></head><body>${links}</body></html>`,
  )
  assert.match(front.text, /\[Item 0\]\(https:\/\/base\.example\/item\/0\)/)
  assert.match(front.text, /\[Item 29\]/)
  const bare = await read("<!doctype html><title>Small\n page</title><p>only <b>this</b>")
  assert.deepEqual(bare, { title: "Small page", text: "only **this**", isPlain: false })
  assert.deepEqual(await read(""), { title: "", text: "", isPlain: false })
})

const hostile: Record<string, string> = {
  "100 000 levels": `${"<div>".repeat(100_000)}deep text`,
  "100 000 levels, closed": `${"<b>".repeat(100_000)}deep text${"</b>".repeat(100_000)}`,
  "half a million elements": `<p>deep text</p>${"<i>x</i>".repeat(500_000)}`,
  "half a million entities": `deep text${"&".repeat(500_000)}`,
  "only brackets": `deep text ${"<".repeat(1_000_000)}`,
  "4 MB of paragraphs": `<p>deep text</p>${"<p>words, and words</p>".repeat(180_000)}`,
}
for (const [name, html] of Object.entries(hostile))
  test(`toMarkdown() gives plain text for ${name}`, async () => {
    const { text, isPlain } = await read(html)
    assert.equal(isPlain, true)
    assert.match(text, /^deep text/)
  })

test("toMarkdown() skips attributes of a megabyte, and comments, scripts and tags without an end", async () => {
  assert.equal((await read(`<div title="${"x".repeat(1_500_000)}">deep text</div>`)).text, "deep text")
  for (const end of ["<script>", "<!--", '<a href="', "<style ", "<textarea>"])
    assert.match((await read(`<p>deep text</p>${end.repeat(9_000)}`)).text, /^deep text/, end)
})

test("toMarkdown() ends with the signal, also while a page keeps its thread busy", async () => {
  const stop = new AbortController()
  // Nesting inside of <svg> is not counted as depth, so the page is not too deep for the parser, only slow.
  const work = toMarkdown(`<svg>${"<g>".repeat(90_000)}`, "https://example.com/", stop.signal)
  setImmediate(() => stop.abort(new Error("stopped")))
  await assert.rejects(work, /stopped/)
})

test("stripTags() keeps blocks of text with decoded entities, without menus, scripts and comments", () => {
  const { title, text } = stripTags(
    `<TITLE>A &lt;b&gt; &#8212; &#x1F600;</TITLE><nav><nav>in</nav><p>menu</p></nav><!-- <p>no</p> --><h1 class='a>b'>Head</h1>
     <p>one <b>two</b>&nbsp;three<br>four &unknown; 1 < 2</p><ul><li>a<li>b</ul><script>"</p>"</script><STYLE>p{}</STYLE >end`,
  )
  assert.equal(title, "A <b> — 😀")
  assert.equal(text, "Head\n\none two three\nfour &unknown; 1 < 2\n\n- a\n- b\nend")
})

test("markdown-worker.ts shares no import with the program: the bundler would load such a shared chunk in the thread", () => {
  const importsOf = (name: string) => {
    const source = new URL(`../../../src/ability/web/${name}`, import.meta.url)
    return [...readFileSync(source, "utf8").matchAll(/^import (?!type).* from "([^"]+)"/gm)].map(
      ([, from]) => from,
    )
  }
  assert.deepEqual(importsOf("markdown-worker.ts"), ["node:worker_threads", "./markdown-rules.ts"])
  assert.deepEqual(importsOf("markdown-rules.ts"), [])
})
