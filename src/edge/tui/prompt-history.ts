// Earlier prompts, across sessions: a file of JSON lines that only this person can read.
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises"
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
      if (all.length > 2 * most)
        await writeFile(file, all.slice(-most).map(lineOf).join(""), { mode: 0o600 }).catch(() => {})
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
