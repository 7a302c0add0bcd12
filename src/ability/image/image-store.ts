// The bytes of a session's images, each stored once under the hash of its content. Messages refer to them, so messages
// stay small, and later turns send what was attached even if the file or page has changed. The images are removed with
// the session.
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { copyFile, link, mkdir, open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { outputFolder } from "#ability/call/output-folder.ts"
import { fetchOutput, shareOutput } from "#ability/call/shared-output.ts"
import { errorCode } from "#util/error.ts"
import { namesIn } from "#util/file/path-info.ts"
import { replaceFile } from "#util/file/write-file.ts"

/** Stores an image and returns its hash. It is on the disk when this resolves. */
export async function write(sessionId: string, bytes: Buffer): Promise<string> {
  const hash = createHash("sha256").update(bytes).digest("hex")
  const folder = folderOf(sessionId)
  if (read(sessionId, hash)) return hash
  await replaceFile(join(folder, hash), bytes)
  await using handle = await open(folder)
  await handle.sync()
  await shareOutput(sessionId, join(folder, hash))
  return hash
}

/** Fetches the images of a session that another server has stored. Without shared storage it does nothing. */
export async function fetchShared(sessionId: string): Promise<void> {
  await fetchOutput(sessionId, folderOf(sessionId))
}

/** Whether there is an image with this hash. */
export function has(sessionId: string, hash: string): boolean {
  return isHash(hash) && existsSync(join(folderOf(sessionId), hash))
}

/** Undefined if it is not stored here, or is damaged. */
export function read(sessionId: string, hash: string): Buffer | undefined {
  if (!isHash(hash)) return undefined
  try {
    const bytes = readFileSync(join(folderOf(sessionId), hash))
    return createHash("sha256").update(bytes).digest("hex") === hash ? bytes : undefined
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  }
}

/** The hashes of all images of a session. */
export async function list(sessionId: string): Promise<string[]> {
  return namesIn(folderOf(sessionId)).filter(isHash)
}

/** Copies the images for a session that is made from another one. */
export async function copy(from: string, to: string): Promise<void> {
  await fetchShared(from)
  const names = await readdir(folderOf(from)).catch(() => [])
  if (!names.length) return
  await mkdir(folderOf(to), { recursive: true, mode: 0o700 })
  for (const name of names) {
    const [source, target] = [join(folderOf(from), name), join(folderOf(to), name)]
    // Stored images never change, so both sessions can share one file.
    await link(source, target).catch(() => copyFile(source, target))
    await shareOutput(to, target)
  }
}

/** In an imported session, the hash may be any text. */
function isHash(hash: string): boolean {
  return /^[0-9a-f]{64}$/.test(hash)
}

function folderOf(sessionId: string): string {
  return join(outputFolder(sessionId), "images")
}
