// The cached copy of the remote layer, read at once and refreshed in the background. A late, broken or oversized
// answer changes nothing.
import { createHash } from "node:crypto"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import type { Remote } from "#kernel/schema/schema.ts"
import { shownUrl } from "#kernel/schema/secrets.ts"
import { fetchBytes, fetchFailure } from "#util/fetch-bytes.ts"
import { replaceFile } from "#util/file/write-file.ts"

const maxBytes = 1 << 20
const timeLimit = 3000

/** The last good answer of a URL, if there is one. */
export async function readCache(url: string): Promise<Buffer | undefined> {
  return readSmallFile(cacheFile(url)).catch(() => undefined)
}

/** Fetch, validate and cache. Returns true if the answer is new and valid. `check` throws if it is invalid. */
export async function renewCache(options: {
  remote: Remote
  signal: AbortSignal
  check: (bytes: Uint8Array) => void
}): Promise<boolean> {
  const { remote, signal } = options
  try {
    const bytes = await fetchBytes({ timeout: timeLimit, ...remote, maxBytes, signal })
    if ((await readCache(remote.url))?.equals(bytes)) return false
    options.check(bytes)
    await replaceFile(cacheFile(remote.url), bytes)
    return true
  } catch (error) {
    if (!signal.aborted)
      Log.warn("the remote configuration could not be fetched; its cached copy stays in use", {
        url: shownUrl(remote.url),
        error: fetchFailure(error),
      })
    return false
  }
}

function cacheFile(url: string): string {
  const name = createHash("sha256").update(url).digest("hex").slice(0, 40)
  return join(Global.cache(), "remote-config", `${name}.json`)
}
