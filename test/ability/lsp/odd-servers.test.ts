// Language servers that die, hang, flood, lie or ask: the edit succeeds, and the problem is named.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import * as LateDiagnostics from "#ability/lsp/late-diagnostics.ts"
import { until } from "../../fixture/until.ts"
import { call, replace } from "./harness.ts"
import { withServer } from "./odd-project.ts"

test("a server that sends diagnostics by itself is compared with before the edit", () =>
  withServer("plain", async (tmp) => {
    tmp.write("b.odd", "BAD before\nfine\n")
    const broken = await replace("b.odd", "fine", "BADLY here, 😀 BAD")
    assert.equal(
      broken.text,
      "b.odd edited (+1 -1).\nNew diagnostics:\nb.odd:2:16 error: BAD is bad\nb.odd:2:1 warning: BADLY is bad",
    )
    assert.equal((await replace("b.odd", "BADLY here, 😀 BAD", "good")).text, "b.odd edited (+1 -1).")
  }))

test("at most ten diagnostics are shown", () =>
  withServer("plain", async () => {
    const { text } = await replace(
      "a.odd",
      "fine",
      Array.from({ length: 14 }, (_, i) => `BAD${i}`).join("\n"),
    )
    assert.equal(text.split("\n").filter((line) => line.startsWith("a.odd:")).length, 10)
    assert.match(text, /\[4 more\]$/)
  }))

for (const [mode, reason] of [
  ["dies", /it exited with 3: odd: cannot find its heart/],
  ["panics", /it exited with 1: error: no such part/],
  ["garbage", /more than 8192 bytes without a header/],
  ["giant-header", /more than 8192 bytes without a header/],
  ["giant-message", /a message of 99999999999 bytes/],
  ["no-json", /a message that is not a JSON object/],
  ["dies-later", /it exited with 1/],
  ["floods", /more than 64 MB in ten seconds/],
] as const)
  test(`an edit succeeds and names a server that ${mode}`, () =>
    withServer(mode, async () => {
      const notices: string[] = []
      const { status, text } = await replace("a.odd", "fine", "BAD", notices)
      assert.equal(status, "success")
      assert.match(text, /^a\.odd edited \(\+1 -1\)\.\n\[no diagnostics: /)
      assert.match(text, reason)
      assert.match(notices.join("\n"), reason)
      // It is not started again at once.
      const again = await replace("a.odd", "BAD", "BADLY", notices)
      assert.match(again.text, /it may start again in \d+ s/)
    }))

test("a server that died is started again after a pause", () =>
  withServer("dies-later", async (_, log) => {
    await replace("a.odd", "fine", "BAD")
    await sleep(2_100)
    assert.equal((await replace("a.odd", "BAD", "good")).text, "a.odd edited (+1 -1).")
    assert.equal(log().filter(({ method }) => method === "initialize").length, 2)
  }))

for (const mode of ["hangs", "silent"])
  test(`an edit waits for a server that ${mode} as long as the setting says, and the next one not at all`, () =>
    withServer(
      mode,
      async () => {
        const first = await replace("a.odd", "fine", "BAD")
        assert.match(first.text, /\[the diagnostics of "odd" are not ready; new ones will follow\]/)
        const second = await replace("a.odd", "BAD", "BADLY")
        assert.match(second.text, /are not ready/)
        assert.ok(second.duration < first.duration, `${second.duration} ms after ${first.duration} ms`)
      },
      1_000,
    ))

test("diagnostics that come late wait for the session, and are dropped if they are gone by then", () =>
  withServer(
    "late",
    async (tmp) => {
      tmp.write("b.odd", "fine\n")
      await call("diagnostics", { path: "a.odd" })
      assert.match((await replace("a.odd", "fine", "BAD")).text, /are not ready/)
      const texts: string[] = []
      await until(() => texts.push(...LateDiagnostics.take("ses_1")) > 0)
      assert.deepEqual(texts, ["New diagnostics:\na.odd:1:1 error: BAD is bad"])
      await replace("b.odd", "fine", "BAD")
      await replace("b.odd", "BAD", "good")
      await sleep(2_000)
      assert.deepEqual(LateDiagnostics.take("ses_1"), [])
    },
    200,
  ))

test("a server that sends nothing for fine files holds up the first edits only, and is still heard", () =>
  withServer(
    "quiet",
    async () => {
      const texts: string[] = []
      for (let i = 0; i < 12 && texts.at(-1) !== "a.odd edited (+1 -1)."; i++) {
        if (i) await sleep(2_500)
        texts.push((await replace("a.odd", i ? `fine${i - 1}` : "fine", `fine${i}`)).text)
      }
      assert.match(texts[0]!, /are not ready/)
      assert.equal(texts.at(-1), "a.odd edited (+1 -1).")
      const last = `fine${texts.length - 1}`
      assert.match(
        (await replace("a.odd", last, "BAD")).text,
        /New diagnostics:\na\.odd:1:1 error: BAD is bad/,
      )
      assert.equal((await replace("a.odd", "BAD", "BAD BADLY")).text.match(/ is bad/g)?.length, 1)
      assert.equal((await replace("a.odd", "BAD BADLY", "good")).text, "a.odd edited (+1 -1).")
      assert.equal((await replace("a.odd", "good", "best")).text, "a.odd edited (+1 -1).")
    },
    1_000,
  ))

test("a fifth server takes the place of the one that was not used for the longest time", () =>
  withServer("plain", async (tmp, log) => {
    const folders = ["one", "two", "three", "four", "five"]
    for (const folder of folders) {
      tmp.write(`${folder}/root.odd`, "")
      tmp.write(`${folder}/a.odd`, "fine\n")
    }
    for (const folder of folders) await replace(`${folder}/a.odd`, "fine", "good")
    const count = (name: string) => log().filter(({ method }) => method === name).length
    await until(() => count("shutdown") > 0)
    assert.deepEqual([count("initialize"), count("shutdown")], [5, 1])
    // The first one starts again.
    assert.match((await replace("one/a.odd", "good", "BAD")).text, /error: BAD is bad/)
    await until(() => count("shutdown") > 1)
    assert.deepEqual([count("initialize"), count("shutdown")], [6, 2])
  }))

test("positions that do not exist become the nearest, and files outside are left out", () =>
  withServer("lies", async () => {
    const { text } = await replace("a.odd", "fine", "BAD")
    assert.equal(
      text,
      [
        "a.odd edited (+1 -1).",
        "New diagnostics:",
        "a.odd:1:1 error: nowhere\\u001b[31m in two lines",
        "a.odd:2:1 error: nowhere\\u001b[31m in two lines",
        "a.odd:2:1 error: nowhere\\u001b[31m in two lines",
        "a.odd:1:4 error: nowhere\\u001b[31m in two lines",
        "a.odd:2:1 error: nowhere\\u001b[31m in two lines",
      ].join("\n"),
    )
  }))

test("requests of a server are answered, and nothing is changed or shown for it", () =>
  withServer("asks", async (_, log) => {
    await replace("a.odd", "fine", "good")
    await until(() => log().filter(({ id = 0 }) => id >= 1_000).length === 7)
    const answers = log().filter(({ id = 0, method }) => id >= 1_000 && method === undefined)
    const [configuration, applied, shown, registered, folders, refreshed, unknown] = answers
    assert.deepEqual(configuration!.result, [3, null, { odd: { depth: 3 } }])
    assert.equal((applied!.result as { applied: boolean }).applied, false)
    assert.deepEqual(shown!.result, { success: false })
    assert.equal(registered!.result, null)
    assert.equal((folders!.result as unknown[]).length, 1)
    assert.equal(refreshed!.result, null)
    assert.equal(unknown!.error!.code, -32_601)
  }))

test("rename refuses places that do not have the old name, files outside and other operations", () =>
  withServer("plain", async (tmp) => {
    for (const [newName, reason] of [
      ["wrong", /named a place in a\.odd that is not "fine"/],
      ["overlaps", /named a place in a\.odd that is not "fine"/],
      ["outside", /outside of the work tree/],
      ["removes", /wants to create, move or remove files/],
    ] as const) {
      const { status, text } = await call("rename", { path: "a.odd", line: 1, symbol: "fine", newName })
      assert.equal(status, "error")
      assert.match(text, reason)
    }
    assert.equal(readFileSync(join(tmp.path, "a.odd"), "utf8"), "fine\n")
  }))
