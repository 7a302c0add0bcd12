// The event log on real files: restarts, torn files, limits, cursors.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { createDirectoryFilter, frameOf } from "#kernel/bus/event-frame.ts"
import { createEventLog, type EventLog } from "#kernel/bus/event-log.ts"
import * as Log from "#kernel/process/log.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

function add(log: EventLog, count: number, directory = "/a"): number[] {
  const first = log.lastId() + 1
  const ids = Array.from({ length: count }, (_, i) => first + i)
  const frames = ids.map((id) =>
    frameOf({ id, type: "t.t", time: 1, directory, payload: { text: "x".repeat(50) } }),
  )
  log.append({ bytes: Buffer.from(frames.join("")), first, last: first + count - 1, count })
  return ids
}

function readAll(log: EventLog, offset: number): string {
  let text = ""
  while (offset < log.end()) {
    const part = log.read(offset, 1000)
    assert.ok(part, `nothing at ${offset} of ${log.end()}`)
    text += part.bytes
    offset = part.next
  }
  return text
}

function idsAfter(log: EventLog, id: number): number[] {
  const at = log.locate(id)
  assert.ok(at)
  return [...readAll(log, at.offset).matchAll(/^id: (\d+)\nevent: t/gm)].map((match) => Number(match[1]))
}

/** As after kill -9: nothing is closed, another process opens the same files. */
function abandoned(directory: string): string {
  const slot = join(directory, "0")
  rmSync(join(slot, "lock"))
  return directory
}

test("createEventLog() returns exactly the events after an id, also after a clean restart", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory })
  for (let i = 0; i < 50; i++) add(log, 20)
  assert.deepEqual(idsAfter(log, 990), [991, 992, 993, 994, 995, 996, 997, 998, 999, 1000])
  assert.equal(idsAfter(log, 0).length, 1000)
  log.close()
  const again = createEventLog({ directory })
  assert.equal(again.lastId(), 1000)
  assert.deepEqual(again.locate(1000), { offset: again.end() })
  add(again, 2)
  assert.deepEqual(idsAfter(again, 999), [1000, 1001, 1002])
  assert.equal(again.locate(999)?.gap, undefined)
  again.close()
})

test("createEventLog() continues above the reserved ids after kill -9, without a gap for clients that had everything", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  add(createEventLog({ directory }), 10)
  const log = createEventLog({ directory: abandoned(directory) })
  assert.ok(log.lastId() >= 10_000)
  assert.equal(log.locate(10)?.gap, undefined)
  const start = log.lastId()
  add(log, 3)
  assert.equal(log.locate(5)?.gap, undefined)
  assert.deepEqual(idsAfter(log, 8), [9, 10, start + 1, start + 2, start + 3])
  assert.deepEqual(log.locate(500)?.gap, { after: 500, from: start + 1 })
  assert.equal(log.locate(start)?.gap, undefined)
  log.close()
})

test("createEventLog() reports events that a power cut lost to every reader across it", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  add(createEventLog({ directory }), 10)
  writeFileSync(join(directory, "0", "writer"), "another boot of this machine")
  const log = createEventLog({ directory: abandoned(directory) })
  assert.deepEqual(log.locate(10)?.gap, { after: 10, from: log.lastId() + 1 })
  const start = log.lastId()
  add(log, 1)
  const text = readAll(log, log.locate(9)!.offset)
  assert.match(
    text,
    new RegExp(
      `id: 10\\n.*\\n.*\\n\\nid: ${start}\\nevent: gap\\ndata: {"type":"gap","after":10,"from":${start + 1}}`,
    ),
  )
  assert.equal(log.locate(start)?.gap, undefined)
  assert.deepEqual(idsAfter(log, 500), [start + 1])
  log.close()
})

test("createEventLog() cuts off a torn tail and zero bytes", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  for (const damage of [
    "id: 11\nevent: t.t\ndata: {",
    "\0".repeat(4096),
    "id: 11\nevent: x\ndata: \0\0\n\n",
    "rubbish\n\n",
  ]) {
    rmSync(directory, { recursive: true, force: true })
    add(createEventLog({ directory }), 10)
    const file = join(
      directory,
      "0",
      readdirSync(join(directory, "0")).find((name) => name.endsWith(".sse"))!,
    )
    appendFileSync(file, damage)
    const log = createEventLog({ directory: abandoned(directory) })
    add(log, 1)
    assert.equal(idsAfter(log, 8).length, 3, JSON.stringify(damage))
    assert.equal(readFileSync(file).includes(damage), false)
    log.close()
  }
})

test("createEventLog() never assigns an id twice when the newest file is lost", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  add(createEventLog({ directory }), 10)
  const file = readdirSync(join(directory, "0")).find((name) => name.endsWith(".sse"))!
  truncateSync(join(directory, "0", file), 0)
  const log = createEventLog({ directory: abandoned(directory) })
  assert.ok(log.lastId() > 10)
  log.close()
})

test("createEventLog() removes the oldest segment when enough events remain, and reports a gap to an old cursor", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory, maxEvents: 100, segmentBytes: 4000 })
  for (let i = 0; i < 100; i++) add(log, 10)
  const first = log.locate(0)?.gap?.from as number
  assert.ok(first > 1 && first <= 1000 - 100 + 1, String(first))
  assert.equal(idsAfter(log, 0).length, 1000 - first + 1)
  assert.equal(log.locate(first - 1)?.gap, undefined)
  assert.equal(log.read(0, 1000), undefined)
  assert.equal(log.locate(1001), undefined)
  log.close()
  const again = createEventLog({ directory, maxEvents: 100, segmentBytes: 4000 })
  assert.equal(idsAfter(again, 0).length, 1000 - first + 1)
  assert.deepEqual(idsAfter(again, 950).length, 50)
  again.close()
})

test("createEventLog() also limits the stored bytes", async () => {
  await using tmp = await tmpdir()
  const log = createEventLog({
    directory: join(tmp.path, "e"),
    maxEvents: 1e9,
    maxBytes: 20_000,
    segmentBytes: 4000,
  })
  for (let i = 0; i < 100; i++) add(log, 10)
  const kept = readAll(log, log.locate(0)!.offset).length
  assert.ok(kept >= 20_000 && kept < 40_000, String(kept))
  log.close()
})

test("createEventLog() takes the next slot when the first is in use; cursors of one are unknown to the other", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const one = createEventLog({ directory })
  const two = createEventLog({ directory })
  add(one, 5)
  add(two, 5)
  assert.equal(two.lastId(), 1e12 + 5)
  assert.equal(one.locate(1e12 + 3), undefined)
  assert.equal(two.locate(3), undefined)
  one.close()
  const three = createEventLog({ directory })
  assert.equal(three.lastId(), 5)
  two.close()
  three.close()
})

test("createEventLog() continues without a disk, and reports a gap to clients that reconnect", async () => {
  await using tmp = await tmpdir()
  const log = createEventLog({ directory: tmp.write("a-file", "") })
  const before = log.lastId()
  assert.deepEqual(log.locate(before), { offset: 0 })
  add(log, 5)
  assert.deepEqual(log.locate(log.lastId()), { offset: log.end() })
  assert.deepEqual(log.locate(before + 2)?.gap, { after: before + 2, from: before + 6 })
  assert.equal(log.read(0, 1000), undefined)
  log.close()
})

test("createEventLog() continues when its folder becomes unusable, and stores events again afterwards", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory, segmentBytes: 1000 })
  add(log, 20)
  rmSync(join(directory, "0"), { recursive: true })
  writeFileSync(join(directory, "0"), "in the way")
  add(log, 20)
  assert.equal(log.lastId(), 40)
  assert.equal(log.locate(30)?.gap?.from, 41)
  rmSync(join(directory, "0"))
  mkdirSync(join(directory, "0"))
  for (let i = 0; i < 300 && !existsSync(join(directory, "0", "reserved")); i++) {
    add(log, 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const last = log.lastId()
  add(log, 2)
  assert.deepEqual(idsAfter(log, last), [last + 1, last + 2])
  assert.equal(log.locate(30)?.gap?.after, 30)
  log.close()
})

test("createEventLog() recreates a removed folder, reports the loss once, and continues above the old ids", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const file = join(tmp.path, "log")
  const log = createEventLog({ directory, segmentBytes: 1000 })
  for (let i = 0; i < 5; i++) add(log, 20)
  Log.setFile(file)
  rmSync(directory, { recursive: true })
  add(log, 2)
  add(log, 2)
  Log.setFile(undefined)
  assert.equal(readFileSync(file, "utf8").match(/WARN/g)?.length, 1)
  assert.deepEqual(idsAfter(log, 100), [101, 102, 103, 104])
  for (const cursor of [1, 50, 99]) {
    assert.deepEqual(log.locate(cursor)?.gap, { after: cursor, from: 101 })
    assert.deepEqual(idsAfter(log, cursor), [101, 102, 103, 104])
  }
  // Nobody else may take the folder while it is in use.
  const other = createEventLog({ directory })
  assert.equal(other.lastId(), 1e12)
  other.close()
  const again = createEventLog({ directory: abandoned(directory) })
  assert.ok(again.lastId() > 104)
  assert.deepEqual(idsAfter(again, 102), [103, 104])
  again.close()
})

test("createEventLog() records its last id when it is closed after its folder was removed", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory })
  add(log, 30)
  rmSync(directory, { recursive: true })
  log.close()
  const again = createEventLog({ directory })
  assert.equal(again.lastId(), 30)
  again.close()
})

test("createEventLog() does not write into a folder that another process has taken meanwhile", async () => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory })
  add(log, 30)
  rmSync(directory, { recursive: true })
  const other = createEventLog({ directory })
  add(other, 3)
  add(log, 5)
  assert.equal(log.lastId(), 35)
  assert.deepEqual(log.locate(10)?.gap, { after: 10, from: 36 })
  log.close()
  other.close()
  const again = createEventLog({ directory })
  assert.deepEqual(idsAfter(again, 0), [1, 2, 3])
  again.close()
})

for (const [what, use] of [
  ["appends", (log: EventLog) => void add(log, 5)],
  ["is closed", () => {}],
] as const)
  test(`createEventLog() ${what} without touching a folder that another server took and left meanwhile`, async () => {
    await using tmp = await tmpdir()
    const directory = join(tmp.path, "events")
    const slot = join(directory, "0")
    const log = createEventLog({ directory })
    add(log, 30)
    rmSync(directory, { recursive: true })
    const other = createEventLog({ directory })
    add(other, 3)
    other.close()
    const files = () => readdirSync(slot).map((name) => [name, readFileSync(join(slot, name), "utf8")])
    const left = files()
    use(log)
    log.close()
    assert.deepEqual(files(), left)
    const again = createEventLog({ directory })
    assert.equal(again.lastId(), 3)
    assert.deepEqual(idsAfter(again, 0), [1, 2, 3])
    assert.equal(again.locate(3)?.gap, undefined)
    again.close()
  })

test("createEventLog() retries after a failure, timed by a monotonic clock", async (t) => {
  await using tmp = await tmpdir()
  const directory = join(tmp.path, "events")
  const log = createEventLog({ directory })
  add(log, 1)
  rmSync(join(directory, "0"), { recursive: true })
  writeFileSync(join(directory, "0"), "in the way")
  add(log, 1)
  rmSync(join(directory, "0"))
  const now = Date.now()
  t.mock.method(Date, "now", () => now - 3_600_000)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  add(log, 2)
  assert.deepEqual(idsAfter(log, 2), [3, 4])
  assert.ok(existsSync(join(directory, "0", "reserved")))
  log.close()
})

test("createEventLog() removes a half-written batch when the disk is full, and reports a gap for later events", async () => {
  await using tmp = await tmpdir()
  const script = `
    import { frameOf } from "#kernel/bus/event-frame.ts"
    import { createEventLog } from "#kernel/bus/event-log.ts"
    const log = createEventLog({ directory: process.argv[1] })
    for (let id = 1; id <= 40; id++)
      log.append({ bytes: Buffer.from(frameOf({ id, type: "t", time: 1, directory: "/", payload: "x".repeat(3000) })), first: id, last: id, count: 1 })
    const { offset, gap } = log.locate(0)
    let text = ""
    for (let part = log.read(offset, 1000); part; part = log.read(part.next, 1000)) text += part.bytes
    const ids = [...text.matchAll(/^id: (\\d+)/gm)].map((match) => Number(match[1]))
    console.log(JSON.stringify({ gap, ids, lost: log.locate(ids.at(-1)).gap, last: log.lastId() }))`
  // No file may grow beyond 64 KB: the write that would is cut short, then refused.
  const { stdout } = await promisify(execFile)(
    "bash",
    [
      "-c",
      'trap "" XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1" "$2"',
      process.execPath,
      script,
      join(tmp.path, "e"),
    ],
    { cwd: join(import.meta.dirname, "../../..") },
  )
  const { gap, ids, lost, last } = JSON.parse(stdout)
  assert.equal(gap, undefined)
  assert.equal(last, 40)
  assert.ok(ids.length > 15 && ids.length < 25)
  assert.deepEqual(
    ids,
    Array.from(ids, (_, i) => i + 1),
  )
  assert.deepEqual(lost, { after: ids.at(-1), from: 41 })
})

test("createDirectoryFilter() keeps the frames of one directory, whatever their payload says", () => {
  const events = [
    frameOf({
      id: 1,
      type: "a",
      time: 1,
      directory: "/a",
      payload: { directory: "/b", text: ',"directory":"/b"' },
    }),
    frameOf({ id: 2, type: "a", time: 1, directory: "/b", payload: {} }),
    frameOf({ type: "live", time: 1, directory: "/b", payload: {} }),
    frameOf({ id: 3, type: "a", time: 1, directory: "/bc", payload: {} }),
    'id: 4\nevent: gap\ndata: {"type":"gap","after":1,"from":5}\n\n',
  ]
  const kept = String(createDirectoryFilter("/b")(Buffer.from(events.join(""))))
  assert.equal(kept, events[1]! + events[2]! + events[4]!)
})
