// Stories that share a page, one after another, in a real Chromium: none sees what those before it left.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { StoryResult } from "#ability/world/story-result.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

async function problemsIn(tmp: Tmp): Promise<Record<string, string>> {
  const { out, err } = await vitamin(tmp, ["--trust", "world", "run", "--format", "json"])
  assert.ok(out.startsWith("{"), err)
  const { stories } = JSON.parse(out) as { stories: StoryResult[] }
  return Object.fromEntries(stories.map(({ name, problems }) => [name, problems.join(" | ")]))
}

const story = (name: string, { body, viewport = "" }: { body: string; viewport?: string }) =>
  `export const ${name} = { intent: "x", template: "<p>Hi</p>", parameters: { timeout: 30_000, ${viewport} }, async play(tools) { ${body} } }\n`

/** Names what is left of another story, and then leaves all of it. */
const leaks = `export async function leaks(isSized) {
  const channel = new BroadcastChannel("leak")
  let heard = 0
  channel.onmessage = () => heard++
  await new Promise((resolve) => setTimeout(resolve, 60))
  const found = {
    global: "leaked" in globalThis,
    prototype: "leaked" in Array.prototype,
    name: window.name !== "",
    element: document.querySelectorAll("p").length !== 1,
    history: history.length !== 1,
    viewport: !isSized && (innerWidth !== 800 || innerHeight !== 600),
    cookies: document.cookie !== "",
    localStorage: localStorage.length > 0,
    sessionStorage: sessionStorage.length > 0,
    databases: (await indexedDB.databases()).length > 0,
    caches: (await caches.keys()).length > 0,
    files: (await Array.fromAsync((await navigator.storage.getDirectory()).keys())).length > 0,
    channel: heard > 0,
  }
  globalThis.leaked = Array.prototype.leaked = 1
  window.name = "leaked"
  document.body.append(document.createElement("p"))
  history.pushState({}, "", "/leaked")
  document.cookie = "own=1"
  document.cookie = "site=1; domain=stories.localhost"
  if (!document.cookie.includes("site=1")) throw new Error("no cookie of the site")
  localStorage.leaked = sessionStorage.leaked = 1
  await new Promise((resolve, reject) => Object.assign(indexedDB.open("leaked"), { onsuccess: resolve, onerror: reject }))
  await caches.open("leaked")
  await (await navigator.storage.getDirectory()).getFileHandle("leaked", { create: true })
  const other = new BroadcastChannel("leak")
  setInterval(() => other.postMessage(1), 10)
  return Object.keys(found).filter((kind) => found[kind]).join()
}
`

test("a story sees no globals, storage, cookies, timers, history or viewport of those before it in its page", async () => {
  await using tmp = await tmpdir()
  tmp.write("leaks.js", leaks)
  const check = (isSized: boolean) =>
    `tools.assert({ given: "a page", should: "be as new", actual: await leaks(${isSized}), expected: "" })`
  // Four pages at a time: the second six run in pages of the first six.
  const sized = { body: check(true), viewport: "viewport: { width: 333, height: 222 }" }
  const stories = Array.from({ length: 6 }, (_, at) => [
    story(`a${at}`, sized),
    story(`b${at}`, { body: check(false) }),
  ])
  tmp.write("leaks.stories.ts", `import { leaks } from "./leaks.js"\n${stories.flat().join("")}`)
  const problems = await problemsIn(tmp)
  assert.equal(Object.keys(problems).length, 12)
  for (const [name, problem] of Object.entries(problems)) assert.equal(problem, "", name)
})

test("a story that passed and does not let its page go, or reaches out late, harms no other", async () => {
  await using tmp = await tmpdir()
  const late = `new SharedWorker(URL.createObjectURL(new Blob(["setTimeout(() => fetch('https://example.com/w'), 400)"])),
    { extendedLifetime: true })`
  const left = {
    a0: `addEventListener("pagehide", () => { for (;;) {} })`,
    a1: `addEventListener("pagehide", () => void fetch("https://example.com/late", { keepalive: true }))`,
    a2: `addEventListener("unload", () => navigator.sendBeacon("https://example.com/late"))`,
    a3: `setTimeout(() => { ${late} }, 1)`,
    a4: `addEventListener("pagehide", () => { open("about:blank"); alert("late"); throw new Error("late") })`,
  }
  const bad = Object.entries(left).map(([name, body]) => story(name, { body }))
  const good = Array.from({ length: 8 }, (_, at) => story(`b${at}`, { body: "await tools.wait(600)" }))
  tmp.write("late.stories.ts", [...bad, ...good].join(""))
  const problems = await problemsIn(tmp)
  for (let at = 0; at < 8; at++) assert.equal(problems[`b${at}`], "")
})
