// Outputs over 50 KB are stored on disk as they arrive. They must not contain a known key, wherever a chunk ends.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { apiOf } from "../../fixture/api-of.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

const key = "fake-llm-key-0123456789"
/** One long line with the key whole, and then in two writes. */
const script = `
const write = (text) => new Promise((done) => process.stdout.write(text, done))
const pause = () => new Promise((done) => setTimeout(done, 300))
await write("x".repeat(70_000) + " ${key} ")
await write("x".repeat(30_000) + " ${key.slice(0, 14)}")
await pause()
await write("${key.slice(14)} " + "y".repeat(30_000) + "\\n")
`

function everythingIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n")
}

function keptIn(tmp: Tmp): string {
  return everythingIn(join(tmp.env.XDG_DATA_HOME!, "vitamin", "outputs"))
}

test("the stored output of a command contains no known key, even if it was split between two writes", async () => {
  await using tmp = await tmpdir()
  tmp.write("print.mjs", script)
  await using llm = await fakeLlm([call("bash", { command: `${process.execPath} print.mjs` }), text("Done.")])
  const args = ["run", "--yes", "--format", "json", "print it"]
  const { code, out, err } = await vitamin(tmp, args, env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(out, /"tool\.progress"/)
  assert.ok(!out.includes(key.slice(0, 14)), "in an event")
  const kept = keptIn(tmp)
  assert.match(kept, /^x{70000} \[openai key\] x{30000} \[openai key\] y{30000}$/m)
  assert.ok(!everythingIn(tmp.env.XDG_DATA_HOME!).includes(key.slice(0, 14)))
  assert.ok(!llm.requests[1]!.raw.includes(key.slice(0, 14)))
})

test("a file over 50 KB that a tool reads is stored without known keys", async () => {
  await using tmp = await tmpdir()
  tmp.write("notes.txt", `${"some words\n".repeat(3_000)}${key}\n${"some words\n".repeat(3_000)}`)
  await using llm = await fakeLlm([
    call("bash", { command: "cat notes.txt" }),
    call("grep", { pattern: "words|fake", path: "notes.txt" }),
    text("Done."),
  ])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "print it"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(keptIn(tmp), /\[openai key\]/)
  assert.ok(!keptIn(tmp).includes(key))
})

test("events of an answer that streams a key in pieces do not contain the key", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text(`the key is ${key} ok`, { deltas: 40, delay: 5 })])
  const { out } = await vitamin(tmp, ["run", "--format", "json", "go"], env(llm, "chat").variables)
  const events = out
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; payload: { text: string } })
  const deltas = events.filter(({ type }) => type === "message.delta").map(({ payload }) => payload.text)
  assert.ok(deltas.length > 3, "it streams")
  assert.equal(deltas.join(""), "the key is [openai key] ok")
})

/** The key is at the place where a text is cut, after 500 characters. */
const acrossCut = `${"-".repeat(490)}${key}${"-".repeat(100)}`

test("the shortened page of a failed fetch contains no part of a known key", async () => {
  await using tmp = await tmpdir()
  const server = createServer((_, response) => {
    response.writeHead(500, { "content-type": "text/plain" }).end(acrossCut)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await using llm = await fakeLlm([call("fetch", { url: `${origin}/` }), text("Done.")])
  const args = ["run", "--allow", `network.fetch:${origin}/*`, "get it"]
  const { err } = await vitamin(tmp, args, env(llm, "chat").variables)
  server.close()
  assert.match(llm.requests[1]!.raw, /-{400}/, err)
  assert.ok(!llm.requests[1]!.raw.includes(key.slice(0, 6)))
})

test("the preview of a change, whose lines are shortened, contains no part of a known key", async () => {
  await using tmp = await tmpdir()
  const written = call("write", { path: "a.txt", content: `${acrossCut}\n` })
  await using llm = await fakeLlm([written, text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = apiOf(server)
  const { id } = (await api("POST", "/session", {})).body
  const answered = api("POST", `/session/${id}/message`, { text: "write it" })
  let preview = ""
  await until(async () => {
    preview = (await api("GET", "/permission/pending")).body[0]?.preview ?? ""
    return preview !== ""
  }, "the question")
  await api("POST", `/session/${id}/abort`)
  await answered
  assert.match(preview, /-{400}/)
  assert.ok(!preview.includes(key.slice(0, 6)), preview)
})
