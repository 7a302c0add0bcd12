// Torn, damaged, deleted and forged journals: the store opens, and recovers as much as possible.
import assert from "node:assert/strict"
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { beginSegment, headerBytes, readSegment, recordSize, writeRecord } from "#kernel/storage/journal.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { runFixture } from "../../fixture/child.ts"
import { type TmpStore, tmpStore } from "../../fixture/tmp-store.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

const segmentOf = (store: TmpStore, generation: number) =>
  join(store.root, `journal/segment-${generation % 2}`)

function overwrite(file: string, offset: number, bytes: Uint8Array) {
  const fd = openSync(file, "r+")
  writeSync(fd, bytes, 0, bytes.length, offset)
  closeSync(fd)
}

const sizeOf = (key: string[], data: unknown) => recordSize(key.join("/"), Buffer.from(JSON.stringify(data)))

test("Storage opens a journal that was torn at any byte of its last record, and keeps all earlier records", async () => {
  await using store = await tmpStore()
  const [first, last] = [
    ["torn", "first"],
    ["torn", "last"],
  ] as const
  await Storage.write(first, { n: 1 })
  await Storage.write(last, { n: 2 })
  await Storage.close()
  const segment = segmentOf(store, 1)
  const { end } = readSegment(segment)!
  const size = sizeOf([...last], { n: 2 })
  const whole = readFileSync(segment).subarray(end - size, end)
  for (let kept = 0; kept < size; kept++)
    for (const filler of [0, 0xff]) {
      overwrite(
        segment,
        end - size,
        Buffer.concat([whole.subarray(0, kept), Buffer.alloc(size - kept, filler)]),
      )
      for (const key of [first, last]) rmSync(store.file(...key), { force: true })
      assert.deepEqual(await Storage.read(first), { n: 1 }, `${kept} bytes kept`)
      await assert.rejects(Storage.read(last), Storage.NotFound, `${kept} bytes kept`)
      await Storage.close()
    }
  overwrite(segment, end - size, whole)
  assert.deepEqual(await Storage.read(last), { n: 2 })
})

test("Storage writes after a torn tail, and reads these records at the next open", async () => {
  await using store = await tmpStore()
  await Storage.write(["torn", "first"], 1)
  await Storage.write(["torn", "last"], 2)
  await Storage.close()
  const segment = segmentOf(store, 1)
  const { end } = readSegment(segment)!
  overwrite(segment, end - 1, Buffer.from([0]))
  rmSync(store.file("torn", "last"))
  await Storage.write(["torn", "next"], 3)
  await Storage.close()
  rmSync(join(store.root, "storage"), { recursive: true })
  assert.deepEqual(await Storage.list(["torn"]), ["first", "next"])
  assert.equal(await Storage.read(["torn", "next"]), 3)
})

test("Storage loses nothing to a flipped byte in the middle of the journal", async () => {
  await using store = await tmpStore()
  const key = ["flip", "k"]
  for (const n of [1, 2, 3]) await Storage.write(key, { n })
  await Storage.write(["flip", "other"], { n: 4 })
  await Storage.close()
  const segment = segmentOf(store, 1)
  const size = sizeOf(key, { n: 1 })
  const middle = Buffer.from(readFileSync(segment).subarray(headerBytes + size, headerBytes + 2 * size))
  for (let at = 0; at < size; at++) {
    overwrite(segment, headerBytes + size + at, Buffer.from([middle[at]! ^ 0x10]))
    assert.deepEqual(await Storage.read(key), { n: 3 }, `byte ${at}: the file was right`)
    await Storage.close()
    unlinkSync(store.file(...key))
    assert.deepEqual(await Storage.read(key), { n: 3 }, `byte ${at}: the journal has it`)
    assert.deepEqual(await Storage.read(["flip", "other"]), { n: 4 })
    await Storage.close()
    overwrite(segment, headerBytes + size, middle)
  }
  assert.equal(existsSync(join(store.root, "broken")), false)
})

test("readSegment() ignores records of an older generation after the end", async () => {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "segment")
  const text = Buffer.from('"same size"')
  const size = recordSize("a/old", text)
  const old = beginSegment(file, 1, 4096)
  for (let i = 0; i < 3; i++) writeRecord(old, headerBytes + i * size, "a/old", text)
  closeSync(old.fd)
  const next = beginSegment(file, 3, 4096)
  assert.deepEqual(readSegment(file), { generation: 3, entries: [], end: headerBytes })
  writeRecord(next, headerBytes, "a/new", text)
  closeSync(next.fd)
  assert.equal(readFileSync(file).includes("a/old"), true)
  const entries = [{ path: "a/new", bytes: text }]
  assert.deepEqual(readSegment(file), { generation: 3, entries, end: headerBytes + size })
})

test("readSegment() ignores a record inside a value, even if the record around it is damaged", async () => {
  await using tmp = await tmpdir()
  const [file, foreign] = [join(tmp.path, "segment"), join(tmp.path, "foreign")]
  const other = beginSegment(foreign, 1, 4096)
  writeRecord(other, headerBytes, "trust/evil", Buffer.from("{}"))
  closeSync(other.fd)
  const forged = readFileSync(foreign).subarray(headerBytes, readSegment(foreign)!.end)
  const segment = beginSegment(file, 1, 4096)
  writeRecord(segment, headerBytes, "a", forged)
  const second = headerBytes + recordSize("a", forged)
  writeRecord(segment, second, "b", Buffer.from("2"))
  closeSync(segment.fd)
  assert.deepEqual(
    readSegment(file)?.entries.map(({ path }) => path),
    ["a", "b"],
  )
  overwrite(file, headerBytes, Buffer.from("XXXX"))
  assert.deepEqual(readSegment(file)?.entries, [{ path: "b", bytes: Buffer.from("2") }])
})

const damages: Record<string, (file: string) => void> = {
  deleted: (file) => rmSync(file, { force: true }),
  empty: (file) => writeFileSync(file, ""),
  garbage: (file) => writeFileSync(file, Buffer.alloc(9_000, "garbage ")),
  zeros: (file) => writeFileSync(file, Buffer.alloc(statSync(file, { throwIfNoEntry: false })?.size ?? 64)),
}
const parts = ["state", "lock", "lock-wal", "lock-shm", "lock.door", "lock.guard", "segment-0", "segment-1"]

test("Storage opens if any file of its journal is missing or garbage, and keeps the record files", async (t) => {
  await using store = await tmpStore()
  const [key, once] = [
    ["damage", "k"],
    ["damage", "once"],
  ]
  await Storage.write(key, { n: 1 })
  for (let i = 0; generationOf(store) < 2; i++)
    await Storage.write(["filler", String(i % 5)], "x".repeat(i * 50))
  await Storage.write(key, { n: 2 })
  await Storage.write(once, "only in the second")
  await Storage.close()
  const healthy = `${store.root}.healthy`
  cpSync(store.root, healthy, { recursive: true })
  for (const part of parts)
    for (const [how, damage] of Object.entries(damages))
      await t.test(`${part} is ${how}`, async () => {
        rmSync(store.root, { recursive: true })
        cpSync(healthy, store.root, { recursive: true })
        damage(join(store.root, "journal", part))
        assert.deepEqual(await Storage.read(key), { n: 2 })
        assert.equal(await Storage.read(once), "only in the second")
        await Storage.write(["damage", "next"], 3)
        await Storage.close()
        assert.deepEqual(await Storage.read(key), { n: 2 })
        assert.equal(await Storage.read(["damage", "next"]), 3)
        await Storage.update<{ n: number }>(key, (draft) => draft.n++)
        await Storage.close()
        unlinkSync(store.file(...key))
        assert.deepEqual(await Storage.read(key), { n: 3 })
        await Storage.close()
      })
})

function generationOf(store: TmpStore): number {
  return Math.max(...[0, 1].map((n) => readSegment(segmentOf(store, n))?.generation ?? 0))
}

test("Storage reports an unusable journal folder, and still reads records", async () => {
  await using store = await tmpStore()
  await Storage.write(["way", "k"], 1)
  await Storage.close()
  rmSync(join(store.root, "journal"), { recursive: true })
  writeFileSync(join(store.root, "journal"), "a file")
  assert.equal(await Storage.read(["way", "k"]), 1)
  await assert.rejects(Storage.write(["way", "k"], 2), {
    name: "Storage.WriteFailed",
    message: /^Record way\/k could not be written: .*journal.*; the old value stays$/,
  })
  assert.equal(await Storage.read(["way", "k"]), 1)
  assert.match(store.log(), /the journal could not be opened/)
  rmSync(join(store.root, "journal"))
  await Storage.write(["way", "k"], 3)
  assert.equal(await Storage.read(["way", "k"]), 3)
})

test("Storage empties its temporary folder after a crash", async () => {
  await using store = await tmpStore()
  await Storage.write(["left", "k"], 1)
  await Storage.close()
  const temporary = join(store.root, "storage/.tmp")
  writeFileSync(join(temporary, "1-1"), "half a rec")
  cpSync(temporary, join(store.root, "copy"), { recursive: true })
  cpSync(join(store.root, "copy"), join(temporary, "folder"), { recursive: true })
  assert.equal(await Storage.read(["left", "k"]), 1)
  assert.deepEqual(readdirSync(temporary), [])
})

test("Storage: a change of a dead process in the journal never replaces a later write", async () => {
  await using store = await tmpStore()
  await Storage.write(["dies", "open"], 0)
  await using child = runFixture("storage-dies.ts", { env: store.env })
  assert.equal(await child.exit, "SIGKILL", child.errors())
  await Storage.write(["dies", "b"], 5)
  assert.equal(await Storage.read(["dies", "b"]), 5)
  await Storage.close()
  assert.equal(await Storage.read(["dies", "b"]), 5)
  assert.equal(await Storage.read(["dies", "before"]), 0)
})
