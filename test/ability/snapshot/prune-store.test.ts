import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pack, prune } from "#ability/snapshot/prune-store.ts"
import { stateOf } from "#ability/snapshot/scan/state-of.ts"
import type * as Snapshot from "#ability/snapshot/snapshot.ts"
import { get } from "#ability/snapshot/store/shadow.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { run } from "../../fixture/child.ts"
import { repeat } from "../../fixture/soak.ts"
import { change, imageOf, inProject, revert, sessionId } from "./harness.ts"

test("many edits of one file stay small, and the first can still be undone", () =>
  inProject(async (tmp) => {
    const edits = repeat(150, 1_000)
    const lines = Array.from({ length: 2_000 }, (_, i) => `${i} ${Math.sin(i + 1)} ${Math.cos(i + 1)}`)
    tmp.write("big.txt", lines.join("\n"))
    const before = imageOf(tmp.path)
    let first = ""
    for (let i = 0; i < edits; i++) {
      lines[(i * 37) % lines.length] = `edit ${i}`
      const { messageId } = await change(["big.txt"], () => tmp.write("big.txt", lines.join("\n")))
      first ||= messageId
    }
    await Promise.all(get().background)
    const used = sizeOf(get().folder)
    assert.ok(used < Math.max(9e6, (20e6 * edits) / 1_000), `${edits} edits use ${used} bytes`)
    await revert(first)
    assert.deepEqual(imageOf(tmp.path), before)
  }))

test("packed bytes can be read, and a broken object does not stop the packing of the rest", () =>
  inProject(async (tmp) => {
    for (const name of ["a", "b", "c"]) tmp.write(name, name.repeat(1_000))
    const { messageId } = await change(["a", "b", "c"], () => {
      for (const name of ["a", "b", "c"]) tmp.write(name, "new")
    })
    const [broken] = looseIn(get().store.gitDir)
    writeFileSync(broken!, "broken")
    await pack(get())
    assert.deepEqual(looseIn(get().store.gitDir), [broken])
    await assert.rejects(revert(messageId), (error: Snapshot.Conflict) => error.data.conflicts.length === 1)
    const { restored } = await revert(messageId, { force: true })
    assert.equal(restored.length, 2)
    for (const name of restored) assert.equal(readFileSync(join(tmp.path, name), "utf8"), name.repeat(1_000))
  }))

test("bytes that are packed already are not packed again", () =>
  inProject(async (tmp) => {
    for (let round = 0; round < 3; round++) {
      for (const name of ["a", "b"]) tmp.write(name, `${name}\n`.repeat(100))
      await change(round ? ["a"] : ["a", "b"], () => tmp.write("a", "new"))
      await pack(get())
    }
    assert.equal(packsIn(get().store.gitDir).filter((name) => name.endsWith(".pack")).length, 1)
  }))

test("the bytes of removed and of old sessions are dropped, those of others stay", () =>
  inProject(async (tmp) => {
    await Storage.write(["session", Instance.project.id, sessionId], { id: sessionId })
    tmp.write("kept", "kept")
    tmp.write("dropped", "dropped")
    const { messageId } = await change(["kept"], () => tmp.write("kept", "1"))
    await change(["dropped"], () => tmp.write("dropped", "2"), { sessionId: "sess_removed" })
    assert.equal(looseIn(get().store.gitDir).length, 2)
    await prune(get(), { grace: -60_000 })
    assert.equal(looseIn(get().store.gitDir).length, 1)
    await pack(get())
    await prune(get(), { grace: -60_000 })
    await revert(messageId)
    assert.equal(readFileSync(join(tmp.path, "kept"), "utf8"), "kept")
    await prune(get(), { grace: -60_000, maxAge: -60_000 })
    assert.equal(looseIn(get().store.gitDir).length, 0)
    assert.deepEqual(packsIn(get().store.gitDir), [])
  }))

test("above the size limit the oldest session is dropped first", () =>
  inProject(async (tmp) => {
    const ids = ["sess_1", "sess_2", "sess_3"]
    for (const [i, id] of ids.entries()) {
      await Storage.write(["session", Instance.project.id, id], { id })
      tmp.write("a", Buffer.from(Array.from({ length: 50_000 }, (_, n) => (n * n * (i + 7)) >> 3)))
      await change(["a"], () => rmSync(join(tmp.path, "a")), { sessionId: id })
    }
    const sizes = looseIn(get().store.gitDir).map((file) => statSync(file).size)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    await prune(get(), { grace: -60_000, maxBytes: total - 1 })
    assert.deepEqual(readdirSync(join(get().folder, "session")), ["sess_2", "sess_3"])
    assert.equal(looseIn(get().store.gitDir).length, 2)
  }))

test("above the size limit no more sessions are dropped than needed, also out of packs", () =>
  inProject(async (tmp) => {
    const ids = ["sess_1", "sess_2", "sess_3", "sess_4"]
    for (const id of ids) {
      await Storage.write(["session", Instance.project.id, id], { id })
      tmp.write("a", randomBytes(50_000))
      await change(["a"], () => rmSync(join(tmp.path, "a")), { sessionId: id })
    }
    await pack(get())
    const packs = join(get().store.gitDir, "objects", "pack")
    for (const name of readdirSync(packs)) utimesSync(join(packs, name), 1, 1)
    await prune(get(), { maxBytes: 110_000 })
    assert.deepEqual(readdirSync(join(get().folder, "session")), ["sess_3", "sess_4"])
    assert.ok(sizeOf(packs) < 110_000)
  }))

test("bytes are stored while another process removes empty object folders", () =>
  inProject(async (tmp) => {
    await change(["first.txt"], () => tmp.write("first.txt", "first"))
    get().store.ensure()
    await using child = run(process.execPath, ["-e", removeFolders, join(get().store.gitDir, "objects")])
    await child.line(/removing/)
    for (let i = 0; i < repeat(300, 5_000); i++) {
      tmp.write("a.txt", `${i}`)
      const state = stateOf(get(), "a.txt", { keep: true, maxBytes: 100 })
      assert.equal(state?.size, `${i}`.length, `file ${i} is there`)
    }
  }))

test("a failure to store bytes is never taken for a missing file", () =>
  inProject(async (tmp) => {
    tmp.write("a.txt", "a")
    get().store.ensure()
    const hash = get().store.hashOf(Buffer.from("a"))
    symlinkSync("nowhere/at/all", join(get().store.gitDir, "objects", hash.slice(0, 2)))
    await assert.rejects(
      change(["a.txt"], () => tmp.write("a.txt", "b")),
      { name: "Snapshot.NotTaken" },
    )
    await assert.rejects(
      change("worktree", () => tmp.write("a.txt", "b")),
      { name: "Snapshot.NotTaken" },
    )
    assert.equal(readFileSync(join(tmp.path, "a.txt"), "utf8"), "a")
  }))

/** As git does when it has packed what was in them. */
const removeFolders = `
  const { readdirSync, rmdirSync } = require("node:fs")
  console.log("removing")
  for (;;)
    for (const name of readdirSync(process.argv[1]))
      try {
        if (name.length === 2) rmdirSync(process.argv[1] + "/" + name)
      } catch {}`

function looseIn(gitDir: string): string[] {
  const objects = join(gitDir, "objects")
  return readdirSync(objects)
    .filter((name) => name.length === 2)
    .flatMap((name) => readdirSync(join(objects, name)).map((rest) => join(objects, name, rest)))
}

function packsIn(gitDir: string): string[] {
  return readdirSync(join(gitDir, "objects", "pack"))
}

function sizeOf(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
  return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
