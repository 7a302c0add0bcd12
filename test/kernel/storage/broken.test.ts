// Broken records: quarantined and reported, or repaired from the journal; all others load.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { onBackends, type TmpStore, tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const kinds: Record<string, (file: string) => void> = {
  "0 bytes": (file) => writeFileSync(file, ""),
  NULs: (file) => writeFileSync(file, Buffer.alloc(40)),
  cut: (file) => writeFileSync(file, '{"n":1,"text":"ab'),
  BOM: (file) => writeFileSync(file, '\ufeff{"n":1}'),
  "invalid UTF-8": (file) => writeFileSync(file, Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  "a folder": (file) => {
    rmSync(file, { force: true })
    mkdirSync(file)
  },
}
const damages = Object.values(kinds)
/** What a text column can hold. */
const damagedTexts = ["", '{"n":1,"text":"ab', '\ufeff{"n":1}']

/** 1 000 records of which 20 are broken, as another program or a bad disk could leave them. */
async function thousand(store: TmpStore): Promise<{ well: string[]; broken: string[] }> {
  const names = Array.from({ length: 1_000 }, (_, i) => `r${String(i).padStart(3, "0")}`)
  await store.lay(names.map((name) => [keyOf(name), JSON.stringify({ name })]))
  const broken = names.filter((_, i) => i % 50 === 7)
  for (const [i, name] of broken.entries())
    if (store.backend === "files") damages[i % damages.length]!(store.file(...keyOf(name)))
    else await store.lay([[keyOf(name), damagedTexts[i % damagedTexts.length]!]])
  return { well: names.filter((name) => !broken.includes(name)), broken }
}

const keyOf = (name: string) => ["session", `p${name.at(-1)}`, name]

onBackends(
  "Storage.check() reports and quarantines each of 20 broken records among 1 000; all others load",
  async (open) => {
    await using store = await open()
    const { well, broken } = await thousand(store)
    const result = await Storage.check()
    assert.equal(result.records, 980)
    assert.equal(result.broken.length, 20)
    for (const name of broken) {
      const path = keyOf(name).join("/")
      const about = result.broken.filter((text) => text.startsWith(`Record ${path} is broken (`))
      assert.equal(about.length, 1, path)
      const place = /\); it was quarantined as (.+)$/.exec(about[0]!)?.[1]
      const kept = await Storage.quarantined(keyOf(name))
      assert.deepEqual([kept[0]?.place, kept[0]?.key], [place, keyOf(name)])
      assert.equal(await store.plain(...keyOf(name)), undefined)
    }
    for (const name of well) assert.deepEqual(await Storage.read(keyOf(name)), { name })
    assert.deepEqual(await Storage.check(), { records: 980, broken: [] })
  },
)

test("Storage.read() loads 980 of 1 000 records, reports 20 broken ones, and keeps their bytes", async () => {
  await using store = await tmpStore()
  const { well, broken } = await thousand(store)
  const before = new Map(broken.map((name) => [name, contentOf(store.file(...keyOf(name)))]))
  for (const name of well) assert.deepEqual(await Storage.read(keyOf(name)), { name })
  for (const name of broken) {
    const error = await Storage.read(keyOf(name)).catch((error) => error)
    assert.ok(error instanceof Storage.Corrupt, `${name}: ${error}`)
    assert.deepEqual(error.data.key, keyOf(name))
    assert.deepEqual(contentOf(error.data.movedTo as string), before.get(name))
    await assert.rejects(Storage.read(keyOf(name)), Storage.NotFound)
    await Storage.write(keyOf(name), "again")
    assert.equal(await Storage.read(keyOf(name)), "again")
  }
})

function contentOf(path: string): Buffer | "folder" {
  return statSync(path).isDirectory() ? "folder" : readFileSync(path)
}

for (const [kind, damage] of Object.entries(kinds)) {
  test(`Storage.read() repairs a broken file (${kind}) whose value is still in the journal`, async () => {
    await using store = await tmpStore()
    const key = ["mend", "k"]
    await Storage.write(key, { n: 1 })
    await Storage.write(key, { n: 2 })
    damage(store.file(...key))
    assert.deepEqual(await Storage.read(key), { n: 2 })
    assert.equal(readFileSync(store.file(...key), "utf8"), '{"n":2}')
    assert.match(store.log(), /Record mend\/k is broken \(.*mended from the journal/)
  })

  test(`Storage repairs a broken file (${kind}) when it opens, and other records are readable`, async () => {
    await using store = await tmpStore()
    await Storage.write(["mend", "k"], { n: 1 })
    await Storage.close()
    damage(store.file("mend", "k"))
    await Storage.write(["mend", "other"], 2)
    assert.equal(readFileSync(store.file("mend", "k"), "utf8"), '{"n":1}')
    assert.deepEqual(await Storage.read(["mend", "k"]), { n: 1 })
  })

  test(`Storage.update() repairs a broken record (${kind}) first, or reports it and changes nothing`, async () => {
    await using store = await tmpStore()
    await Storage.write(["mend", "k"], { n: 1 })
    damage(store.file("mend", "k"))
    const add = (draft: { n: number }) => draft.n++
    assert.deepEqual(await Storage.update(["mend", "k"], add), { n: 2 })
    damage(store.file("mend", "foreign"))
    await assert.rejects(Storage.update(["mend", "foreign"], add, { initial: { n: 0 } }), {
      name: "Storage.Corrupt",
      message: /^Record mend\/foreign is broken \(.*\); it was quarantined as /,
    })
    assert.deepEqual(await Storage.update(["mend", "foreign"], add, { initial: { n: 0 } }), { n: 1 })
  })
}

onBackends("Storage keeps the text of a broken record until it is dropped or discarded", async (open) => {
  await using store = await open()
  const [one, two] = [
    ["kept", "a", "one"],
    ["kept", "a", "two"],
  ]
  for (const key of [one!, two!]) {
    await store.lay([[key, `{"directory":"/x","text":"${key.at(-1)}`]])
    await assert.rejects(Storage.read(key), { name: "Storage.Corrupt" })
    await assert.rejects(Storage.read(key), Storage.NotFound)
  }
  await Storage.write(one!, { n: 1 })
  assert.match((await Storage.quarantine(one!, () => true))!, /./)
  await assert.rejects(Storage.read(one!), Storage.NotFound)
  assert.equal(await Storage.quarantine(one!, () => true), undefined)
  const kept = await Storage.quarantined(["kept"])
  assert.deepEqual(
    kept.map(({ key }) => key.at(-1)),
    ["one", "one", "two"],
  )
  assert.equal(await Storage.headOf(kept[0]!), '{"directory":"/x","text":"one')
  assert.ok("reason" in (await Storage.readQuarantined(kept[0]!)))
  assert.deepEqual(await Storage.readQuarantined(kept[1]!), { value: { n: 1 } })
  await Storage.dropQuarantined(kept[0]!)
  assert.equal((await Storage.quarantined(one!)).length, 1)
  assert.deepEqual(await Storage.quarantined(["kep"]), [])
  await Storage.discard(["kept", "a"])
  assert.deepEqual(await Storage.quarantined([]), [])
})

test("Storage.Corrupt has the reason once, and the new path of the record", async () => {
  await using store = await tmpStore()
  mkdirSync(join(store.root, "storage"), { recursive: true })
  writeFileSync(store.file("top"), "{")
  await assert.rejects(Storage.read(["top"]), {
    message: /^Record top is broken \([^;]*JSON[^;]*\); it was quarantined as [^;]+$/,
  })
})

test("Storage quarantines a broken record whose names have the maximum length", async () => {
  await using store = await tmpStore()
  const key = ["a".repeat(200), "b".repeat(200), "c".repeat(200)]
  mkdirSync(dirname(store.file(...key)), { recursive: true })
  writeFileSync(store.file(...key), "")
  const error = await Storage.read(key).catch((error) => error)
  assert.ok(error instanceof Storage.Corrupt)
  assert.ok(existsSync(error.data.movedTo as string))
})

onBackends("Storage: a repair never undoes a concurrent write", async (open) => {
  await using store = await open()
  const keys = Array.from({ length: 40 }, (_, i) => ["race", `k${i}`])
  for (const [i, key] of keys.entries()) {
    if (i % 2) await Storage.write(key, "old")
    await store.lay([[key, "{"]])
  }
  await Promise.all(
    keys.map(async (key, i) => {
      const reading = Storage.read(key).catch(() => {})
      for (let turn = 0; turn < i % 8; turn++) await null
      await Storage.write(key, "new")
      await reading
    }),
  )
  for (const key of keys) assert.equal(await Storage.read(key), "new")
})

test("Storage.check() continues after foreign files, and names those that cannot be records", async () => {
  await using store = await tmpStore()
  await Storage.write(["well", "k"], 1)
  const folder = join(store.root, "storage")
  writeFileSync(join(folder, "notes.txt"), "foreign")
  writeFileSync(join(folder, ".hidden.json"), "foreign")
  writeFileSync(join(folder, "two\nlines.json"), "1")
  mkdirSync(join(folder, "x".repeat(201)))
  const { records, broken } = await Storage.check()
  assert.equal(records, 1)
  assert.equal(broken.length, 2)
  for (const text of broken) assert.match(text, /^Key .* is refused: /)
})

test("Storage continues after its folder was removed, and stores later writes", async () => {
  await using tmp = await tmpdir()
  await Storage.write(["a", "one"], { n: 1 })
  rmSync(Global.data(), { recursive: true })
  await Storage.write(["a", "two"], { n: 2 })
  await Storage.update<{ n: number }>(["a", "two"], (draft) => {
    draft.n++
  })
  assert.ok(existsSync(join(Global.data(), "journal", "segment-1")))
  await using child = runFixture("storage-counter.ts", { args: ["3"], env: tmp.env })
  assert.equal(await child.exit, 0, child.errors())
  assert.deepEqual(await Storage.read(["a", "two"]), { n: 3 })
  assert.deepEqual(await Storage.read(["counter", "one"]), { n: 3 })
  await Storage.close()
})
