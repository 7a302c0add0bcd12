// Tells when one of a few files has new content: also when it or its folder appears later, when an editor replaces it,
// and when it is gone. Where the system has no watches left, the files are polled.
import { createHash } from "node:crypto"
import { unwatchFile, watchFile } from "node:fs"
import * as Log from "#kernel/process/log.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { createFolderWatch } from "./folder-watch.ts"

const settle = 50
const pollInterval = 1000

/** Calls `onChange` after a change; never keeps the process alive. Resolves, when the watches stand, to the way to stop. */
export async function watchFiles(paths: string[], onChange: () => void): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let known: string | undefined
  const folders = createFolderWatch({ paths, onEvent: schedule, onExhausted: poll })
  folders.arm()
  known = await fingerprint(paths)
  return () => {
    stopped = true
    clearTimeout(timer)
    folders.close()
    for (const path of paths) unwatchFile(path, schedule)
  }

  function schedule() {
    if (stopped) return
    clearTimeout(timer)
    timer = setTimeout(look, settle)
    timer.unref()
  }

  async function look() {
    folders.arm()
    const now = await fingerprint(paths)
    if (stopped || now === known) return
    known = now
    onChange()
  }

  function poll() {
    Log.info("no file watches are left; configuration files are polled")
    for (const path of paths) watchFile(path, { persistent: false, interval: pollInterval }, schedule)
  }
}

async function fingerprint(paths: string[]): Promise<string> {
  const hash = createHash("sha256")
  for (const path of paths) {
    const content = await readSmallFile(path).catch((error) => `error: ${errorText(error)}`)
    hash.update(content === undefined ? "missing" : `${content.length}:`).update(content ?? "")
  }
  return hash.digest("hex")
}
