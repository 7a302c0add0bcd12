// Watches what a configuration depends on: the files of its layers, and the trust in the work tree, which a person may
// change in another process. Both are polled: `stat` notices a file that appears with its folder, a file that an editor
// replaces, and a replaced link in its path. The system's watches miss such changes, and their number is limited.
import { statSync } from "node:fs"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { errorText } from "#util/error.ts"

/** Milliseconds between two polls. A poll of the files takes microseconds. */
const pollFiles = 1_000
const pollTrust = 1_500

type Stop = () => Promise<void>

/** Calls `onChange` after a change; never keeps the process alive. Resolves to a function that stops it. */
export function watchFiles(paths: string[], onChange: () => void): Promise<Stop> {
  return poll(async () => filesStamp(paths), pollFiles, onChange)
}

/** The same for the trust in a work tree. A removed work tree counts as untrusted. */
export function watchTrust(worktree: string, onChange: () => void): Promise<Stop> {
  return poll(() => trustStamp(worktree), pollTrust, onChange)
}

/** Changes with the files and with the trust in the work tree. */
export async function readStamp(paths: string[], worktree: string): Promise<string> {
  return `${filesStamp(paths)}\n${await trustStamp(worktree)}`
}

function filesStamp(paths: string[]): string {
  return paths.map(stampOf).join("\n")
}

async function trustStamp(worktree: string): Promise<string | undefined> {
  return (await Reviewed.of(worktree).catch(() => undefined))?.stamp
}

/** Stopping waits for a read that is under way, so that Storage can be closed after it. */
async function poll(
  read: () => Promise<string | undefined>,
  interval: number,
  onChange: () => void,
): Promise<Stop> {
  let stopped = false
  let reading: Promise<void> | undefined
  let known = await read()
  let timer = schedule()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await reading
  }

  function schedule() {
    return setTimeout(() => {
      reading = compare()
    }, interval).unref()
  }

  async function compare() {
    const now = await read()
    if (stopped) return
    timer = schedule()
    if (now === known) return
    known = now
    onChange()
  }
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : ""
  } catch (error) {
    return errorText(error)
  }
}
