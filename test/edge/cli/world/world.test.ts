// `vitamin world run` in a real Chromium: the example of docs/world.md, reports, and folders that are not trusted.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir as systemTmp } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { StoryResult } from "#ability/world/story-result.ts"
import { startVitamin, vitamin } from "../../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const guide = readFileSync(new URL("../../../../docs/world.md", import.meta.url), "utf8")
const [component, stories] = Array.from(guide.matchAll(/```ts\n([\s\S]*?)```/g), ([, code]) => code!)

function writeExample(tmp: Tmp): void {
  tmp.write("src/counter.ts", component!)
  tmp.write("src/counter.stories.ts", stories!)
}

const repaired = component!.replace("+= 1", "+= this.step")

test("the example of docs/world.md fails as the guide says, and passes after its repair", async () => {
  await using tmp = await tmpdir({ git: true })
  writeExample(tmp)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const broken = await vitamin(tmp, ["world", "run"])
  assert.equal(broken.code, 1, broken.err)
  const plain = (text: string) =>
    text
      .trim()
      .replace(/\d+ ms/g, "N ms")
      .split("\n")
      .sort()
  const shown = /```\n(passed[\s\S]*?)```/.exec(guide)![1]!
  assert.deepEqual(plain(broken.out), plain(shown))
  tmp.write("src/counter.ts", repaired)
  const whole = await vitamin(tmp, ["world", "run", "src/counter.ts", "--report", "stories.html"])
  assert.equal(whole.code, 0, whole.out + whole.err)
  const report = readFileSync(join(tmp.path, "stories.html"), "utf8")
  assert.equal(report.match(/<img alt="Picture of the story" src="data:image\/png;base64,iVBOR/g)?.length, 2)
  assert.match(report, /button &#34;Add&#34;/)
})

test("vitamin world run refuses a folder that is not trusted, and says what to do", async () => {
  await using tmp = await tmpdir()
  writeExample(tmp)
  const { code, err } = await vitamin(tmp, ["world", "run"])
  assert.equal(code, 1)
  assert.match(err, /the folder is not trusted; "vitamin trust" trusts it/)
})

test("vitamin world run names a pattern that no story fits", async () => {
  await using tmp = await tmpdir()
  writeExample(tmp)
  const { code, err } = await vitamin(tmp, ["--trust", "world", "run", "other/**"])
  assert.equal(code, 1)
  assert.match(err, /No story file \(\*\.stories\.ts\) fits other\/\*\* in/)
})

test("vitamin world run says what is missing if there is no browser", async () => {
  await using tmp = await tmpdir()
  writeExample(tmp)
  const { code, err } = await vitamin(tmp, ["--trust", "world", "run"], { VITAMIN_BROWSER: "/nowhere" })
  assert.equal(code, 1)
  assert.match(err, /Stories need a browser: VITAMIN_BROWSER is "\/nowhere", and no program is there/)
})

test("vitamin world run --watch runs the stories again that import a changed file", async () => {
  await using tmp = await tmpdir()
  writeExample(tmp)
  tmp.write("src/other.stories.ts", `export const other = { intent: "Another", template: "<p>Hi</p>" }`)
  await using child = startVitamin(tmp, ["--trust", "world", "run", "--watch"])
  await child.line(/^3 stories: 2 passed, 1 failed/)
  tmp.write("src/counter.ts", repaired)
  await child.line(/^2 stories: 2 passed, 0 failed/)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130)
})

test("Ctrl-C ends vitamin world run in the middle of stories, and their one browser", async () => {
  await using tmp = await tmpdir()
  const story = `export const long = { intent: "x", template: "<p>Hi</p>", parameters: { timeout: 60_000 },
    play: ({ wait }) => wait(50_000) }`
  tmp.write("a.stories.ts", `export const first = { intent: "x", template: "<p>Hi</p>" }\n${story}`)
  tmp.write("b.stories.ts", story)
  tmp.write("c.stories.ts", story)
  await using child = startVitamin(tmp, ["--trust", "world", "run"])
  await child.line(/^passed {2}a\.stories\.ts › first/)
  const folders = () =>
    readdirSync(systemTmp()).filter((name) => name.startsWith(`vitamin-browser-${child.process.pid}-`))
  assert.equal(folders().length, 1)
  child.process.kill("SIGINT")
  assert.equal(await child.exit, 130)
  assert.deepEqual(folders(), [])
})

test("vitamin world run --format json prints the results, and the modules of each story", async () => {
  await using tmp = await tmpdir()
  tmp.write("lib/words.ts", `export const hello: string = "Hello"`)
  tmp.write("lib/index.ts", `export * from "./words"`)
  tmp.write("node_modules/greet/package.json", `{"exports": {"node": "./no.js", "browser": "./greet.js"}}`)
  tmp.write("node_modules/greet/greet.js", `export const greet = (name) => "Hello " + name`)
  tmp.write("package.json", `{"imports": {"#lib/*": "./lib/*.ts"}}`)
  tmp.write(
    "a.stories.ts",
    `import { greet } from "greet"
     import { hello } from "./lib"
     import { hello as same } from "#lib/words"
     export const render = { intent: "Greets", args: { name: "Ada" }, component: (args) => "<h1>" + greet(args.name) + "</h1>",
       play: ({ assert }) => assert({ given: "two imports of a module", should: "be one", actual: hello, expected: same }) }
     export const module = { intent: "A module", component: { default: (_, root) => { root.textContent = "From a module" } } }
     export const notAStory = 1`,
  )
  const { code, out, err } = await vitamin(tmp, ["--trust", "world", "run", "--format", "json"])
  assert.equal(code, 0, out + err)
  const [module, render] = JSON.parse(out).stories as [StoryResult, StoryResult]
  assert.equal(module.snapshot, "- text: From a module")
  assert.equal(render.snapshot, '- heading "Hello Ada" [level=1]')
  assert.deepEqual(render.assertions, { passed: 1, failed: 0 })
  assert.deepEqual(render.violations, [])
  assert.deepEqual([...render.modules].sort(), [
    "a.stories.ts",
    "lib/index.ts",
    "lib/words.ts",
    "node_modules/greet/greet.js",
  ])
  assert.ok(!existsSync(join(tmp.path, "stories.html")))
})
