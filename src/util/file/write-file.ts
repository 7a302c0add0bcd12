// Writes whole files: in place, which keeps the inode and its hard links, or to a temporary file that is renamed, so that
// nobody reads half of it. The name of a temporary file has the id of its process in it, so that only the files of dead
// processes are removed.
import { createHash, randomUUID } from "node:crypto"
import { fstatSync, ftruncateSync, lstatSync, readlinkSync, unlinkSync, writeSync } from "node:fs"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { createId } from "#util/id.ts"
import { isRunning, ownLife } from "#util/process.ts"
import { namesIn } from "./path-info.ts"

const temporaryForm = /^\.vitamin-tmp\.([0-9a-f]{8})\.(\d+)\.(\d*)\.tmp_[0-9a-z]+$/
/** Milliseconds after which a temporary file of another machine or container is removed: whether its process still runs
 * cannot be checked from here. */
const maxAge = 86_400_000

/** Writes the part beyond the old end first, so that a full disk fails before old bytes are overwritten. A crash can leave
 * a mix of old and new bytes, which `isMixOf` recognises. */
export function writeInPlace(fd: number, bytes: Buffer): void {
  const size = fstatSync(fd).size
  writeAll(fd, bytes.subarray(size), size)
  writeAll(fd, bytes.subarray(0, size), 0)
  ftruncateSync(fd, bytes.length)
}

export function writeAll(fd: number, bytes: Buffer, from: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, from + done)
}

/** Whether every byte equals the byte at the same offset of one version or the other, and the length is at least that of
 * the shorter version. */
export function isMixOf(bytes: Buffer, one: Buffer, other: Buffer): boolean {
  if (bytes.length < Math.min(one.length, other.length)) return false
  return bytes.every((byte, i) => byte === one[i] || byte === other[i])
}

export function temporaryName(): string {
  const { pid, started } = ownLife()
  return `.vitamin-tmp.${whereWeRun()}.${pid}.${started}.${createId("tmp")}`
}

/** Remove what dead processes left in a folder, as far as possible. */
export function removeLeftovers(folder: string): void {
  for (const name of namesIn(folder))
    if (temporaryForm.test(name) && isLeft(folder, name))
      try {
        unlinkSync(join(folder, name))
      } catch {
        // Another process has removed it, or we have no permission to.
      }
}

function isLeft(folder: string, name: string): boolean {
  const [, where, pid, started = ""] = temporaryForm.exec(name)!
  if (where === whereWeRun()) return !isRunning({ pid: Number(pid), started })
  const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
  return stat !== undefined && stat.mtimeMs < Date.now() - maxAge
}

/** Process ids are valid only on one machine and in one container. */
function whereWeRun(): string {
  return createHash("sha256").update(`${hostname()} ${processSpace()}`).digest("hex").slice(0, 8)
}

function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

/** Writes a temporary file and renames it. The file may hold keys: only its owner can read it. */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const aside = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(aside, content, { mode: 0o600, flush: true })
    await rename(aside, file)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}
