// The folder of a running Chromium: its profile, its downloads, and its own temporary files.
import { accessSync, constants, existsSync, mkdtempSync, readdirSync } from "node:fs"
import { mkdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { hasProcess } from "#util/process.ts"

const folderName = /^vitamin-browser-(\d+)-/
const shortTmp = "/tmp"
/** The path of a Unix socket has at most 103 bytes on macOS. 77 of them are our folder's name and Chromium's own names. */
const maxPlace = 26
const removeLimit = 5_000

/** The name has our process in it, so that folders of killed processes are found and removed. */
export async function createFolder(): Promise<string> {
  const place = findPlace()
  for (const name of readdirSync(place)) {
    const owner = Number(folderName.exec(name)?.[1])
    if (owner && !hasProcess(owner)) await removeFolder(join(place, name))
  }
  const folder = mkdtempSync(join(place, `vitamin-browser-${process.pid}-`))
  for (const name of ["downloads", "artifacts"]) await mkdir(join(folder, name))
  return folder
}

/** Chromium ends if the path of its socket is too long, as it is in the temporary folders of macOS. */
function findPlace(): string {
  const place = tmpdir()
  if (process.platform === "win32" || Buffer.byteLength(place) <= maxPlace) return place
  try {
    accessSync(shortTmp, constants.W_OK)
    return shortTmp
  } catch {
    return place
  }
}

/** Processes of the browser may still write while they end, so one try may not be enough. */
export async function removeFolder(folder: string): Promise<void> {
  for (const end = performance.now() + removeLimit; performance.now() < end; await setTimeout(100)) {
    await rm(folder, { recursive: true, force: true }).catch(() => {})
    if (!existsSync(folder)) return
  }
}
