// The files of `dist/`: a command that needs only a part of the program does not load the server, and only the
// entries of the package re-export other files.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"

const dist = new URL("../../dist/", import.meta.url)
const files = readdirSync(dist).filter((name) => name.endsWith(".js"))
const textOf = (name: string) => readFileSync(new URL(name, dist), "utf8")
const withoutHash = (name: string) => name.replace(/-.{8}\.js$/, "")

test("only what serves loads the server's file", () => {
  const server = files.filter((name) => /^server-.{8}\.js$/.test(name))
  assert.equal(server.length, 1)
  const loading = files.filter((name) => textOf(name).includes(`from"./${server[0]}"`))
  const serving = "a2a-serve cluster end-prompt event-table mcp-serve serve-agent start-peer".split(" ")
  assert.deepEqual(loading.map(withoutHash), serving)
  const later = files.filter((name) => textOf(name).includes(`import("./${server[0]}")`))
  assert.deepEqual(later.map(withoutHash), ["acp", "command", "web"])
})

test("the files that a run loads at its start have neither the shell parser nor what follows an edit", () => {
  const start = files.filter((name) => /^(common|command|base|core)-.{8}\.js$/.test(name))
  const text = start.map(textOf).join("\n")
  assert.ok(text.includes("createRequire"))
  assert.doesNotMatch(text, /function (afterChange|fillTemplate|withCommand)\b|unterminated backtick/)
  assert.match(textOf("unbash.js"), /unterminated backtick/)
})

test("only an entry of the package hands on what another file of dist/ exports", () => {
  const facades = files.filter((name) => /^\s*export\{[^{}]+\}from"[^"]+";?\s*$/.test(textOf(name)))
  assert.deepEqual(facades, ["zod-parts.js"])
})

test("every file that dist/ imports exists", () => {
  const imported = (name: string) =>
    [...textOf(name).matchAll(/(?:from|import|import\()["'`]\.\/([^"'`]+\.js)["'`]/g)].map(
      ([, path]) => path!,
    )
  const missing = files.flatMap((name) => imported(name).filter((path) => !files.includes(path)))
  assert.deepEqual(missing, [])
})
