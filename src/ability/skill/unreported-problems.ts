// Remembers which problems of skills were reported on this machine: each file is reported once, and again after it has
// changed. The record can be deleted at any time.
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { replaceFile } from "#util/file/write-file.ts"

type Problem = { file: string; message: string }
/** The state of a file when it was reported, by path. */
type Reported = Record<string, string>

/** How many files are remembered; the oldest are forgotten first. */
const maxFiles = 500

/** Returns the problems that were not reported yet, and records them as reported. */
export async function takeUnreported<T extends Problem>(problems: readonly T[]): Promise<T[]> {
  if (!problems.length) return []
  const said = await readReported()
  const now = Object.fromEntries(
    Object.entries(Object.groupBy(problems, ({ file }) => file)).map(([file, of]) => [
      file,
      stateOf(file, of!),
    ]),
  )
  const news = problems.filter(({ file }) => said[file] !== now[file])
  if (news.length) await writeReported(said, now)
  return news
}

function stateOf(file: string, problems: readonly Problem[]): string {
  const { mtimeMs, size } = statOf(file) ?? {}
  const facts = JSON.stringify([mtimeMs, size, problems.map(({ message }) => message)])
  return createHash("sha256").update(facts).digest("hex").slice(0, 16)
}

async function readReported(): Promise<Reported> {
  try {
    const read: unknown = JSON.parse(await readFile(placeOf(), "utf8"))
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Reported) : {}
  } catch (error) {
    if (errorCode(error) !== "ENOENT")
      Log.debug("the record of reported skill problems cannot be read", { error: errorText(error) })
    return {}
  }
}

async function writeReported(said: Reported, now: Reported): Promise<void> {
  const others = Object.entries(said).filter(([file]) => now[file] === undefined)
  const all = Object.fromEntries([...others, ...Object.entries(now)].slice(-maxFiles))
  try {
    await replaceFile(placeOf(), `${JSON.stringify(all)}\n`)
  } catch (error) {
    Log.debug("the record of reported skill problems cannot be written", { error: errorText(error) })
  }
}

function placeOf(): string {
  return join(Global.cache(), "skill-problems.json")
}
