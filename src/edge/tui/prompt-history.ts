// Earlier prompts, across sessions: a file of JSON lines that only this person can read.
import { appendFile, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

/** Entries that are read, and at twice as many the file is cut back. */
const most = 1_000

/** The entries are there as soon as the file has been read. */
export function openHistory(file: string) {
  const entries: string[] = []
  const read = readFile(file, "utf8")
    .catch(() => "")
    .then(async (text) => {
      const all = text.split("\n").flatMap(entryOf)
      entries.unshift(...all.slice(-most))
      if (all.length > 2 * most) await replace(file, all.slice(-most).map(lineOf).join("")).catch(() => {})
    })
  return {
    entries: entries as readonly string[],
    /** Whether nothing was ever sent. */
    isEmpty: () => read.then(() => entries.length === 0),
    add(text: string): void {
      entries.push(text)
      // A full or read-only disk loses the history, not the prompt.
      void read
        .then(() => mkdir(dirname(file), { recursive: true, mode: 0o700 }))
        .then(() => appendFile(file, lineOf(text), { mode: 0o600 }))
        .catch(() => {})
    },
  }
}

/** As a whole: a full disk or a crash in the middle leaves the old file. */
async function replace(file: string, text: string): Promise<void> {
  const next = `${file}.${process.pid}`
  try {
    await writeFile(next, text, { mode: 0o600 })
    await rename(next, file)
  } finally {
    await rm(next, { force: true })
  }
}

function entryOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "string" ? [value] : []
  } catch {
    return []
  }
}

function lineOf(text: string): string {
  return `${JSON.stringify(text)}\n`
}
