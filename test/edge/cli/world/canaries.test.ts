// A story that shows keys of the person: none of them is found in the output of `vitamin world run`, in its report, or in
// what the judge is sent.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createCanaries, findIn } from "../../../fixture/canaries.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { shortTmp } from "../../../fixture/short-tmp.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const providers = ["ANTHROPIC", "MISTRAL", "COHERE", "GROQ", "XAI", "DEEPSEEK", "TOGETHER", "FIREWORKS"]
const canaries = new Map([...createCanaries()].filter(([, value]) => /^\w+$/.test(value)))
const keys = [...canaries.values()].slice(0, providers.length)
const variables = Object.fromEntries(keys.map((key, i) => [`${providers[i]}_API_KEY`, key]))

function writeStory(tmp: Tmp): void {
  const shown = JSON.stringify(keys.join(" "))
  tmp.write(
    "keys.stories.ts",
    `export const shows = { intent: "Shows " + ${shown}, template: "<main><h1>" + ${shown} + "</h1></main>",
       play: ({ assert }) => assert({ given: "a page", should: "be empty", actual: ${JSON.stringify(keys[0])}, expected: "" }) }
     export const other = { intent: "Shows none", template: "<main><h1>Hello</h1></main>" }`,
  )
}

test("vitamin world run shows no key that a story shows, in its output, its report and to the judge", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text(JSON.stringify({ score: 9, notes: [] })))
  writeStory(tmp)
  using temp = shortTmp()
  const args = ["--trust", "world", "run", "--report", "stories.html"]
  const all = { ...variables, ...env(llm, "chat").variables, TMPDIR: temp.path }
  const said = await vitamin(tmp, args, all)
  const json = await vitamin(tmp, [...args.slice(0, 3), "--format", "json"], all)
  assert.equal(said.code, 1, said.err)
  assert.match(said.out, /\[anthropic key\]/)
  assert.match(json.out, /\[anthropic key\]/)
  const report = readFileSync(join(tmp.path, "stories.html"), "utf8")
  assert.match(report, /heading &#34;\[anthropic key\]/)
  assert.equal(report.match(/<img /g)?.length, 1, "the picture without a key")
  assert.deepEqual(readdirSync(temp.path), [], "Chromium leaves no files")
  const places = [
    { file: "stdout", content: said.out + said.err },
    { file: "JSON", content: json.out + json.err },
    { file: "report", content: report },
    ...llm.requests.map(({ raw }) => ({ file: "request of the judge", content: raw })),
  ]
  assert.deepEqual(findIn(places, canaries), [])
})
