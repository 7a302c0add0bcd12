// The outcomes of the stories that a session ran, each with its picture, in the folder of the session's outputs. They are
// there for people who look at the session later, and go when it is removed.
import { constants } from "node:fs"
import { mkdir, open, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { outputFolder } from "#ability/call/output-folder.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { type Outcome, StoredStory } from "./story-result.ts"

/** Stories that are given out, the newest. */
const maxStories = 200
const maxRecord = 1_000_000
const maxPicture = 5_000_000
const pngStart = Buffer.from("89504e470d0a1a0a", "hex")

class PictureNotFound extends NamedError {
  constructor(why: string) {
    super("World.PictureNotFound", `The picture of this story ${why}.`)
  }
}

/** Returns the path of the picture, if there is one. */
export async function storeStory(
  { picture, ...outcome }: Outcome,
  { sessionId, callId, number }: { sessionId: string; callId: string; number: number },
): Promise<string | undefined> {
  const name = callId.replace(/[^\w-]/g, "_")
  const folder = join(storiesOf(sessionId), name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${number}.png`)
  if (picture) await writeFile(path, picture)
  const record: StoredStory = {
    ...outcome,
    callId: name,
    number,
    time: Date.now(),
    hasPicture: picture !== undefined,
  }
  await writeFile(join(folder, `${number}.json`), Secret.redactJson(JSON.stringify(record)))
  return picture && path
}

/** The oldest first. A record that cannot be read is left out. */
export async function listStories(sessionId: string): Promise<StoredStory[]> {
  const folder = storiesOf(sessionId)
  const found: { path: string; time: number }[] = []
  for (const callId of await namesIn(folder))
    for (const name of await namesIn(join(folder, callId))) {
      const path = join(folder, callId, name)
      const facts = name.endsWith(".json") ? await stat(path).catch(() => undefined) : undefined
      if (facts) found.push({ path, time: facts.mtimeMs })
    }
  found.sort((a, b) => a.time - b.time || a.path.localeCompare(b.path, "en", { numeric: true }))
  const stories = await Promise.all(found.slice(-maxStories).map(({ path }) => recordIn(path)))
  return stories.filter((story) => story !== undefined)
}

/** Throws `World.PictureNotFound`, also for a file that is not a picture of ours. */
export async function readPicture(
  sessionId: string,
  { callId, number }: { callId: string; number: string },
): Promise<Buffer> {
  if (!/^[\w-]{1,200}$/.test(callId) || !/^[1-9]\d{0,4}$/.test(number))
    throw new PictureNotFound("does not exist")
  const bytes = await readOwn(join(storiesOf(sessionId), callId, `${number}.png`), maxPicture)
  if (!bytes) throw new PictureNotFound("does not exist, or is too large")
  if (!bytes.subarray(0, pngStart.length).equals(pngStart)) throw new PictureNotFound("is not a PNG file")
  return bytes
}

function storiesOf(sessionId: string): string {
  return join(outputFolder(sessionId), "stories")
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

async function recordIn(path: string): Promise<StoredStory | undefined> {
  const bytes = await readOwn(path, maxRecord)
  try {
    return StoredStory.parse(JSON.parse(String(bytes)))
  } catch {
    return undefined
  }
}

/** Undefined if it is no file, too large, or a link: commands of the session could have put one there. */
async function readOwn(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const facts = await file.stat()
    return facts.isFile() && facts.size <= maxBytes ? await file.readFile() : undefined
  } catch {
    return undefined
  }
}
