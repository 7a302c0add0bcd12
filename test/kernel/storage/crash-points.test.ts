// A store that dies at each of its file calls in turn, with small segments: acknowledged writes must survive every
// crash. A death at a counted call reaches states that killing a process reaches once in thousands of tries.

import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { setImmediate } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import { foldersOf, readRecord } from "#kernel/storage/files.ts"
import { createWriter, type Writer } from "#kernel/storage/writer.ts"
import * as DyingDisk from "../../fixture/dying-disk.ts"
import { createRandom, type Random } from "../../fixture/random.ts"
import { repeat } from "../../fixture/soak.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Operation = { key: string; seq: number; isRemoval: boolean }
type World = { root: string; random: Random; operations: Operation[]; acknowledged: Map<string, Operation> }

const lives = 10
const firstSeed = Number(process.env.VITAMIN_SEED ?? 1)

for (const end of ["is killed", "loses its power"])
  test(`Storage keeps what it acknowledged when it ${end} at any file call`, async () => {
    // The disk is simulated, so a file system in memory is enough, and faster.
    if (existsSync("/dev/shm")) process.env.TMPDIR = "/dev/shm"
    await using tmp = await tmpdir()
    Log.setLevel("error")
    for (let seed = firstSeed; seed < firstSeed + repeat(60, 1_000); seed++) {
      const random = createRandom(seed)
      const root = join(tmp.path, String(seed))
      const world: World = { root, random, operations: [], acknowledged: new Map() }
      DyingDisk.forgetDisk()
      for (let life = 1; life <= lives; life++) {
        await liveAndDie(world)
        if (end === "loses its power") DyingDisk.cutPower(root, random)
        await verify(world, `seed ${seed}, life ${life}`)
      }
    }
  })

async function liveAndDie(world: World): Promise<void> {
  const { random } = world
  const writer = newWriter(world)
  const part = random(2) ? random(100) / 100 : 0
  if (random(2)) DyingDisk.dieAfter(1 + random(20), { part, only: "fdatasync" })
  else DyingDisk.dieAfter(1 + random(random(3) ? 150 : 25), { part })
  await Promise.all([work(world, writer), work(world, writer), work(world, writer)])
  DyingDisk.kill()
  await setImmediate()
  await writer.close().catch(ignore)
  DyingDisk.revive()
}

async function work({ random, operations, acknowledged }: World, writer: Writer): Promise<void> {
  for (let n = 0; n < 40 && !DyingDisk.isDead(); n++) {
    const operation = { key: `c/k${random(6)}`, seq: operations.length + 1, isRemoval: random(20) === 0 }
    operations.push(operation)
    const body = "x".repeat(random(random(random(1_500) + 1) + 1))
    const text = operation.isRemoval ? undefined : JSON.stringify({ seq: operation.seq, body })
    await writer.submit({ path: operation.key, apply: () => text }).then(
      () => acknowledged.set(operation.key, operation),
      (error: { code?: string }) => assert.ok(DyingDisk.isDead(), error as Error),
    )
  }
}

/** Each record must have its last acknowledged value, or one that was submitted after it. */
async function verify(world: World, place: string): Promise<void> {
  const { root, operations, acknowledged } = world
  const writer = newWriter(world)
  await writer.open()
  for (const [key, last] of acknowledged) {
    const found = readRecord(foldersOf(root), key)
    const seq = found && (JSON.parse((found as { text: string }).text) as { seq: number }).seq
    const possible = operations.filter((one) => one.key === key && one.seq >= last.seq)
    const isRight = possible.some((one) =>
      seq === undefined ? one.isRemoval : !one.isRemoval && one.seq === seq,
    )
    assert.ok(isRight, `${place}: ${key} was acknowledged at ${last.seq} and is at ${seq}`)
  }
  await writer.close()
}

function newWriter({ root, random }: World): Writer {
  return createWriter(foldersOf(root), { segmentBytes: 400 + random(2_000), segmentRecords: 3 + random(6) })
}

/** Closing a dead writer fails, as expected. */
function ignore() {}
