// Language servers over time: diagnostics of other files, servers that nobody uses, and those that use too much memory.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as LateDiagnostics from "#ability/lsp/late-diagnostics.ts"
import { createServer } from "#ability/lsp/server/create-server.ts"
import { createConnection } from "#ability/lsp/wire/connection.ts"
import { hasProcess } from "#util/process.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { call, replace } from "./harness.ts"
import { program, withServer } from "./odd-project.ts"

test("a server that reports on the whole workspace names another file that an edit broke", () =>
  withServer("workspace", async (tmp) => {
    tmp.write("b.odd", "BAD before\n")
    await replace("a.odd", "fine", "good")
    const { text } = await replace("a.odd", "good", "BREAKS")
    assert.equal(text, "a.odd edited (+1 -1).\nNew diagnostics:\nb.odd:1:1 error: broken by a.odd")
    assert.equal((await replace("a.odd", "BREAKS", "good")).text, "a.odd edited (+1 -1).")
  }))

test("a server that holds the question about the workspace is asked it once, and it is cancelled", () =>
  withServer("holds", async (_, log) => {
    await replace("a.odd", "fine", "good")
    const { text } = await replace("a.odd", "good", "BAD")
    assert.match(text, /a\.odd:1:1 error: BAD is bad/)
    const held = log().filter(({ method }) => method === "workspace/diagnostic")
    assert.equal(held.length, 1)
    const cancelled = log().filter(({ method }) => method === "$/cancelRequest")
    assert.deepEqual(
      cancelled.map(({ params }) => params),
      [{ id: held[0]!.id }],
    )
  }))

test("diagnostics of another file that a server sends after the edit join the next turn", () =>
  withServer("others", async (tmp) => {
    tmp.write("b.odd", "fine\n")
    await replace("a.odd", "fine", "good")
    assert.equal((await replace("a.odd", "good", "BREAKS")).text, "a.odd edited (+1 -1).")
    const texts: string[] = []
    await until(() => texts.push(...LateDiagnostics.take("ses_1")) > 0)
    assert.deepEqual(texts, ["New diagnostics:\nb.odd:1:1 error: broken by a.odd"])
    assert.deepEqual(LateDiagnostics.take("ses_1"), [])
  }))

test("what came between two edits is not lost, and what the second one returned is not told again", () =>
  withServer("others", async (tmp) => {
    tmp.write("b.odd", "fine\n")
    await replace("a.odd", "fine", "good")
    await replace("a.odd", "good", "BREAKS")
    const published = () => readFileSync(join(tmp.path, "sent"), "utf8").includes("broken by a.odd")
    await until(published)
    assert.match((await replace("a.odd", "BREAKS", "BREAKS BAD")).text, /BAD is bad/)
    assert.deepEqual(LateDiagnostics.take("ses_2"), [])
    assert.deepEqual(LateDiagnostics.take("ses_1"), ["New diagnostics:\nb.odd:1:1 error: broken by a.odd"])
  }))

test("a server that nobody uses ends, and the next edit starts it again", (t) =>
  withServer("plain", async (tmp, log) => {
    const start = globalThis.setTimeout
    // Five minutes pass in no time.
    const soon = (run: () => void, time?: number) => start(run, time === 5 * 60_000 ? 50 : time)
    t.mock.method(globalThis, "setTimeout", soon)
    await replace("a.odd", "fine", "good")
    const pid = Number(readFileSync(join(tmp.path, "pid"), "utf8"))
    await until(() => !hasProcess(pid))
    assert.equal(log().at(-1)?.method, "exit")
    assert.match((await replace("a.odd", "good", "BAD")).text, /BAD is bad/)
    assert.equal(log().filter(({ method }) => method === "initialize").length, 2)
  }))

test("a server that uses too much memory is ended, and its open questions fail with the reason", async (t) => {
  if (process.platform !== "linux") return t.skip("memory is measured on Linux only")
  await using tmp = await tmpdir()
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  const connection = createConnection({
    command: [process.execPath, program, "eats"],
    cwd: tmp.path,
    env: { ODD_PID: join(tmp.path, "pid") },
    memory: 200 << 20,
    onNotification: () => {},
    answer: () => undefined,
    onEnd: resolve,
  })
  await connection.request("initialize", {})
  const textDocument = { uri: "file:///a.odd", text: "BAD", version: 1, languageId: "odd" }
  connection.notify("textDocument/didOpen", { textDocument })
  await assert.rejects(connection.request("odd/never", {}), /used \d+ MB of memory, more than 200/)
  assert.match(await ended, /used \d+ MB of memory, more than 200/)
  await until(() => !hasProcess(Number(readFileSync(join(tmp.path, "pid"), "utf8"))))
})

test("the diagnostics that are kept of a server are bounded", async () => {
  await using tmp = await tmpdir()
  const server = await createServer(
    {
      ...{ id: "odd", command: [process.execPath, program, "piles"], env: {}, root: tmp.path },
      languageOf: () => "odd",
    },
    { onEnd: () => {}, signal: new AbortController().signal },
  )
  const path = join(tmp.path, "a.odd")
  server.documents.set(path, "BAD")
  await until(() => server.published.get(path) !== undefined)
  const kept = [...server.published.all()].reduce((sum, [, { items }]) => sum + items.length, 0)
  assert.equal(kept, 20_000)
  await server.end()
})

test("the tool diagnostics fails with the reason if the server ended", () =>
  withServer("dies", async () => {
    const { status, text } = await call("diagnostics", { path: "a.odd" })
    assert.equal(status, "error")
    assert.match(text, /it exited with 3: odd: cannot find its heart/)
  }))
