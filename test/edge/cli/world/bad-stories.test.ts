// Stories that misbehave, in a real Chromium: each is bounded and named, and the others run.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { UnitReport } from "#ability/tiers/run-tiers.ts"
import type { StoryResult } from "#ability/world/story-result.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

/** Problems by the name of the story, or of the file that could not be loaded. */
async function problemsIn(tmp: Tmp): Promise<Record<string, string>> {
  const { out, err } = await vitamin(tmp, ["--trust", "world", "run", "--format", "json"])
  assert.ok(out.startsWith("{"), err)
  const { stories, files } = JSON.parse(out) as { stories: StoryResult[]; files: UnitReport[] }
  const held = files.filter(({ tiers }) => tiers.some(({ status }) => status === "held"))
  return Object.fromEntries([
    ...stories.map(({ name, file, problems }) => [name || file, problems.join(" | ")]),
    ...held.map(({ file, findings }) => [file, findings.map(({ message }) => message).join(" | ")]),
  ])
}

const play = (name: string, body: string, timeout = 20_000) =>
  `export const ${name} = { intent: "x", template: "<p>Hi</p>", parameters: { timeout: ${timeout} }, async play(tools) { ${body} } }\n`

test("stories that hang, throw, leave, open dialogs or reach for the network fail by name, and the rest passes", async () => {
  await using tmp = await tmpdir()
  const bad = {
    hangs: [play("hangs", "for (;;) {}", 300), /^The story took longer than 300 ms$/],
    sleeps: [play("sleeps", "await new Promise(() => {})", 300), /^The story took longer than 300 ms$/],
    throws: [play("throws", `throw new Error("boom")`), /^boom \(bad\.stories\.ts:3:\d+\)$/],
    late: [
      play("late", `setTimeout(() => { throw new Error("late") }); await tools.wait(100)`),
      /outside of play: late/,
    ],
    leaves: [
      play("leaves", `location.href = "https://example.com/"; await tools.wait(9_000)`),
      /^It navigated away to https:\/\/example\.com\/$/,
    ],
    reloads: [play("reloads", "location.reload(); await tools.wait(9_000)"), /^It navigated away/],
    alerts: [play("alerts", `alert("hello")`), /^It opened a dialog: alert "hello"$/],
    opens: [play("opens", `open("about:blank")`), /It opened a window/],
    fetches: [
      play("fetches", `await fetch("https://example.com/x").catch(() => {})`),
      /^It reached for the network: https:\/\/example\.com\/x$/,
    ],
    local: [
      play("local", `await fetch("http://127.0.0.1:9/").catch(() => {})`),
      /^It reached for the network: http:\/\/127\.0\.0\.1:9\/$/,
    ],
    neighbor: [
      play("neighbor", `await fetch("http://other.stories.localhost:" + location.port).catch(() => {})`),
      /^It reached for the network: http:\/\/other\.stories\.localhost:\d+\/$/,
    ],
    sockets: [
      play("sockets", `new WebSocket("ws://127.0.0.1:9/"); await tools.wait(200)`),
      /^It reached for the network: ws:\/\/127\.0\.0\.1:9\/$/,
    ],
    frames: [
      play(
        "frames",
        `tools.root.innerHTML = "<iframe title=x src=https://example.com/f></iframe>"; await tools.wait(200)`,
      ),
      /^It reached for the network: https:\/\/example\.com\/f$/,
    ],
    shares: [
      play(
        "shares",
        `new SharedWorker(URL.createObjectURL(new Blob(["fetch('https://example.com/w')"])))
        await tools.wait(2_000)`,
      ),
      /^It reached for the network: example\.com$/,
    ],
    calls: [play("calls", "new RTCPeerConnection()"), /^RTCPeerConnection is not defined/],
    image: [
      `export const image = { intent: "x", template: "<img alt=x src=https://example.com/a.png>", play: ({ wait }) => wait(200) }\n`,
      /^It reached for the network: https:\/\/example\.com\/a\.png$/,
    ],
    submits: [
      play(
        "submits",
        `tools.root.innerHTML = "<form action=/sent><button>Send</button></form>"
        tools.root.querySelector("button").click(); await tools.wait(9_000)`,
      ),
      /^It navigated away to http:\/\/127\.0\.0\.1:\d+\/sent\?$/,
    ],
    removes: [play("removes", "document.body.remove()"), /^The document has no body any more$/],
    nothing: [play("nothing", `await tools.findByText("Gone")`), /^No element with the text Gone within 2 s/],
    blind: [
      `export const blind = { intent: "x", component: () => document.createElement("img"), play: ({ accessibilityCheck }) => accessibilityCheck() }\n`,
      /^Accessibility: image-alt \(Images must have alternative text\) at img/,
    ],
    odd: [`export const odd = { intent: "x", component: 7 }\n`, /^component is neither a function/],
    links: [
      play(
        "links",
        `tools.root.innerHTML = "<a href=#part>Part</a><p id=part>Hi</p>"
        tools.root.querySelector("a").click(); history.pushState({}, "", "/other"); await tools.findByText("Hi")`,
      ),
      /^$/,
    ],
    never: [play("never", `await tools.findByText("Hi")`, Number.NaN), /^$/],
    good: [play("good", `await tools.findByText("Hi")`), /^$/],
  } satisfies Record<string, [string, RegExp]>
  tmp.write(
    "bad.stories.ts",
    Object.values(bad)
      .map(([code]) => code)
      .join(""),
  )
  const problems = await problemsIn(tmp)
  for (const [name, [, expected]] of Object.entries(bad))
    assert.match(problems[name] ?? "missing", expected, name)
  assert.equal(Object.keys(problems).length, Object.keys(bad).length)
})

test("story files that cannot be loaded fail by name, and the other files run", async () => {
  await using tmp = await tmpdir()
  const good = `export const good = { intent: "x", template: "<p>Hi</p>" }\n`
  tmp.write("broken.stories.ts", `export const = 1`)
  tmp.write("empty.stories.ts", `export const nothing = 1`)
  tmp.write("enum.stories.ts", `import "./kinds.ts"\n${good}`)
  tmp.write("kinds.ts", `export enum Kind { One }`)
  tmp.write("loops.stories.ts", `for (;;) {}\n${good}`)
  tmp.write(
    "missing.stories.ts",
    `import { a } from "not-installed"\nimport "./gone.ts"\nimport "node:fs"\n${good}`,
  )
  tmp.write("names.stories.ts", `import { absent } from "./words.ts"\n${good}`)
  tmp.write("words.ts", `export const present = 1`)
  tmp.write("outside.stories.ts", `import "../outside.ts"\n${good}`)
  tmp.write("../outside.ts", `export const outside = 1`)
  tmp.write("throws.stories.ts", `throw new Error("at load")\n${good}`)
  tmp.write("well.stories.ts", good)
  const problems = await problemsIn(tmp)
  assert.match(problems["broken.stories.ts"]!, /^The code cannot be parsed: Unexpected token/)
  assert.match(problems["empty.stories.ts"]!, /It exports no story/)
  assert.match(problems["enum.stories.ts"]!, /^kinds\.ts: TypeScript enum is not supported/)
  assert.match(problems["loops.stories.ts"]!, /Loading the module took longer than/)
  assert.match(
    problems["missing.stories.ts"]!,
    /The package not-installed is not installed\. \| \.\/gone\.ts does not exist\. \| node:fs is a module of Node/,
  )
  assert.match(problems["names.stories.ts"]!, /\.\/words\.ts exports no absent/)
  assert.match(problems["outside.stories.ts"]!, /\.\.\/outside\.ts is outside the project/)
  assert.match(problems["throws.stories.ts"]!, /at load/)
  assert.equal(problems.good, "")
})

test("a page reads neither hidden files nor secrets nor files outside of the project", async () => {
  await using tmp = await tmpdir()
  tmp.write(".env", "KEY=1")
  tmp.write("credentials.json", "{}")
  tmp.write(".hidden/a.json", "{}")
  tmp.write("../outside.json", "{}")
  tmp.write("data.json", "{}")
  const paths = [
    "/.env",
    "/credentials.json",
    "/.hidden/a.json",
    "/%2e%2e/outside.json",
    "/..%2foutside.json",
    "/data.json",
  ]
  const body = `const paths = ${JSON.stringify(paths)}
    const got = await Promise.all(paths.map(async (path) => (await fetch(path)).status))
    tools.assert({ given: "paths", should: "be served or not", actual: got.join(" "), expected: "" })`
  tmp.write("reads.stories.ts", play("reads", body))
  assert.match((await problemsIn(tmp)).reads!, /got "404 404 404 404 404 200"/)
})

test("a story cannot make the server read a pipe, a device or a file outside, and the rest passes", async () => {
  await using tmp = await tmpdir()
  const good = `export const good = { intent: "x", template: "<p>Hi</p>" }\n`
  tmp.write("../outside.stories.ts", good)
  tmp.write(".hidden/a.stories.ts", good)
  tmp.write("plain.ts", good)
  for (const pipe of ["pipe", "pipe.stories.ts"]) execFileSync("mkfifo", [join(tmp.path, pipe)])
  symlinkSync("/dev/zero", join(tmp.path, "zero.stories.ts"))
  symlinkSync("../outside.stories.ts", join(tmp.path, "link.stories.ts"))
  const files = [
    "pipe",
    "pipe.stories.ts",
    "zero.stories.ts",
    "link.stories.ts",
    "../outside.stories.ts",
    ".hidden/a.stories.ts",
    "plain.ts",
    "gone.stories.ts",
    "well.stories.ts",
  ]
  const body = `const got = []
    for (const file of ${JSON.stringify(files)})
      got.push((await fetch("/" + encodeURIComponent(file) + "?page")).status)
    tools.assert({ given: "pages", should: "be served or not", actual: got.join(" "), expected: "" })`
  tmp.write("asks.stories.ts", play("asks", body))
  tmp.write("package.stories.ts", `import "piped"\n${good.replace("good", "piped")}`)
  tmp.write("node_modules/piped/index.js", "export {}")
  execFileSync("mkfifo", [join(tmp.path, "node_modules/piped/package.json")])
  tmp.write("well.stories.ts", good)
  const problems = await problemsIn(tmp)
  assert.match(problems.asks!, /got "404 404 404 404 404 404 404 404 200"/)
  assert.equal(problems.piped, "")
  assert.equal(problems.good, "")
})
