// An acknowledged write against a bare append with fdatasync, interleaved in one process and on one disk. Two floors:
// a growing file through promises, as a program would write it, and the least there is, a preallocated file and
// blocking calls.
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import * as Storage from "#kernel/storage/storage.ts"
import { median, quantile, report } from "./measure.ts"

const rounds = 1_500
mkdirSync("node_modules/.bench", { recursive: true })
const root = mkdtempSync(join("node_modules/.bench", "storage-"))
process.env.VITAMIN_DATA_DIR = join(process.cwd(), root, "data")

for (const size of [2_000, 200_000]) {
  const data = { text: "x".repeat(size) }
  const bytes = Buffer.from(JSON.stringify(data))
  const log = await open(join(root, `floor-${size}`), "a")
  const least = openSync(join(root, `least-${size}`), "w")
  writeSync(least, Buffer.alloc(size * 50))
  fsyncSync(least)
  const times = {
    stringify: [] as number[],
    least: [] as number[],
    floor: [] as number[],
    fresh: [] as number[],
    again: [] as number[],
    update: [] as number[],
  }
  for (let i = 0; i < (size > 10_000 ? rounds / 10 : rounds); i++) {
    times.stringify.push(await time(async () => JSON.stringify(data)))
    times.least.push(
      await time(async () => {
        writeSync(least, bytes, 0, bytes.length, (i % 49) * size)
        fdatasyncSync(least)
      }),
    )
    await settle()
    times.floor.push(
      await time(async () => {
        await log.appendFile(bytes)
        await log.datasync()
      }),
    )
    times.fresh.push(await time(() => Storage.write(["bench", `size-${size}`, `new-${i}`], data)))
    times.again.push(await time(() => Storage.write(["bench", `size-${size}`, "same"], data)))
    times.update.push(
      await time(() =>
        Storage.update<typeof data & { n?: number }>(["bench", `size-${size}`, "same"], (d) => (d.n = i)),
      ),
    )
  }
  await log.close()
  closeSync(least)
  const name = `${size / 1000} KB`
  console.log(
    `JSON.stringify of ${name}: ${median(times.stringify).toFixed(3)} ms, in no floor and in every write`,
  )
  report(
    `write a new record of ${name} (floor: append + fdatasync)`,
    median(times.fresh),
    median(times.floor),
    "ms",
    2,
  )
  report(`write a record of ${name} again`, median(times.again), median(times.floor), "ms", 2)
  report(
    `write a new record of ${name} (floor: the least there is)`,
    median(times.fresh),
    median(times.least),
    "ms",
  )
  report(`write a record of ${name} again (floor: the least)`, median(times.again), median(times.least), "ms")
  report(`update a record of ${name}`, median(times.update), median(times.floor), "ms")
  report(`write a new record of ${name}, p95`, quantile(times.fresh, 0.95), quantile(times.floor, 0.95), "ms")
}

const start = performance.now()
await Promise.all(
  Array.from({ length: 1_000 }, (_, i) =>
    Storage.write(["bench", "parallel", `${i}`], { text: "x".repeat(2_000) }),
  ),
)
console.log(`1 000 writes at once: ${(performance.now() - start).toFixed(0)} ms together`)
await Storage.close()
rmSync(root, { recursive: true, force: true })

/** What a write leaves for later is not charged to the floor that gives it a chance to run. */
async function settle() {
  const until = performance.now() + 0.3
  while (performance.now() < until) await new Promise(setImmediate)
}

async function time(fn: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await fn()
  return performance.now() - start
}
