// The remote layer, as far as it lives on this machine: a kept copy that is read at once, and its renewal in the
// background. An answer that is late, broken or too big changes nothing.
import { createHash, randomUUID } from "node:crypto"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as Global from "#kernel/global.ts"
import * as Log from "#kernel/log.ts"
import { errorText } from "#util/error.ts"
import { readSmallFile } from "./read-file.ts"
import type { Remote } from "./schema.ts"
import { shownUrl } from "./shown-url.ts"

const maxBytes = 1 << 20
const timeLimit = 3000

/** The last good answer of a URL, if there ever was one. */
export async function readCache(url: string): Promise<Buffer | undefined> {
  return readSmallFile(cacheFile(url)).catch(() => undefined)
}

/** Fetch, check and keep. True when something new and valid came; `check` throws what is wrong with an answer. */
export async function renewCache(options: {
  remote: Remote
  signal: AbortSignal
  check: (bytes: Uint8Array) => void
}): Promise<boolean> {
  const { remote, signal } = options
  try {
    const bytes = await fetchBytes(remote, signal)
    if ((await readCache(remote.url))?.equals(bytes)) return false
    options.check(bytes)
    await keep(cacheFile(remote.url), bytes)
    return true
  } catch (error) {
    if (!signal.aborted)
      Log.warn("the remote configuration could not be renewed; what is kept of it stays in force", {
        url: shownUrl(remote.url),
        error: reason(error),
      })
    return false
  }
}

async function fetchBytes({ url, timeout = timeLimit }: Remote, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    redirect: "error",
    headers: { accept: "application/json" },
  })
  if (!response.ok || !response.body) {
    await response.body?.cancel()
    throw new Error(`the server answered ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Written aside and renamed, so that no start ever reads half of it; it may hold keys, so it is the person's alone. */
async function keep(file: string, bytes: Uint8Array) {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const aside = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(aside, bytes, { mode: 0o600, flush: true })
    await rename(aside, file)
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

function cacheFile(url: string): string {
  const name = createHash("sha256").update(url).digest("hex").slice(0, 40)
  return join(Global.cache(), "remote-config", `${name}.json`)
}

/** What fetch says is only "fetch failed"; why is in the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message ? cause.message : errorText(error)
}
