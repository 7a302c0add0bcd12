// A folder in memory for the files of the tests. On a disk, storage and git wait for every write to arrive: tests of
// sessions and snapshots then take up to twice the processor time.
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The tests need about 1 GB at once. */
const needed = 4e9

/** The folder lasts as long as this process. Undefined if the machine has no file system in memory, or one that is too
 * small or does not let programs run. */
export function createMemoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm")
    if (bavail * bsize < needed) return undefined
    const folder = mkdtempSync("/dev/shm/vitamin-")
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1))
    // As /tmp: some tests work as another user.
    chmodSync(folder, 0o1777)
    const program = join(folder, "program")
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 })
    return spawnSync(program).status === 0 ? folder : undefined
  } catch {
    return undefined
  }
}
