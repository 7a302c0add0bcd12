// Notes: Markdown files with a small front matter that people can read, edit and delete. Memory entries and recorded
// knowledge are notes. A file that a person wrote without front matter counts too.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { errorCode, NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { nearest } from "#util/nearest.ts"
import { parseFrontmatter } from "#util/parse/frontmatter.ts"
import { YamlError } from "#util/parse/yaml.ts"
import { lineOf, withLine } from "./front-matter-line.ts"
import { noteNames, openNotes } from "./open-index.ts"

export type Note = {
  name: string
  /** `2026-01-31`. */
  date: string
  kind: string
  /** The session that recorded it. */
  session?: string
  /** Where the statement comes from. */
  source?: string
  /** The name of a note that concludes from this one. */
  concluded?: string
  text: string
}

const maxBytes = 100_000
const maxName = 60

class NotFound extends NamedError {
  constructor(name: string, names: string[]) {
    const near = nearest(name, names)
    const hint = near ? ` Did you mean ${JSON.stringify(near)}?` : ""
    super("Notes.NotFound", `No entry is named ${JSON.stringify(name)}.${hint}`, { name })
  }
}

class Unchangeable extends NamedError {
  constructor(path: string, reason: string) {
    super(
      "Notes.Unchangeable",
      `${path} is not changed: ${reason}. Correct it, or leave it out of \`from\`.`,
      { path },
    )
  }
}

export function list(folder: string): Note[] {
  return noteNames(folder)
    .map((file) => read(folder, file))
    .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.name < b.name ? -1 : 1))
}

/** Writes a new note, under a name that is free. Another process may take the same name at the same time. */
export function add(folder: string, note: Omit<Note, "name" | "date"> & { name?: string | undefined }): Note {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const wanted = nameOf(note.name ?? note.text)
  const date = new Date().toISOString().slice(0, 10)
  for (let i = 1; ; i++) {
    const made = { ...note, name: i === 1 ? wanted : `${wanted}-${i}`, date }
    try {
      writeFileSync(join(folder, `${made.name}.md`), textOf(made), { mode: 0o600, flag: "wx" })
      return made
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error
    }
  }
}

/** Throws `Notes.NotFound`. */
export function get(folder: string, name: string): Note {
  const names = noteNames(folder)
  if (!names.includes(`${name}.md`))
    throw new NotFound(
      name,
      names.map((file) => basename(file, ".md")),
    )
  return read(folder, `${name}.md`)
}

/** Throws if `conclude` would refuse one of the notes, so that none is changed. */
export function checkConclude(folder: string, names: readonly string[]): void {
  for (const name of names) concluded(folder, { name, by: "x" })
}

/** Records in a note which other note concludes from it. Everything else in the file stays as it is. */
export async function conclude(folder: string, { name, by }: { name: string; by: string }): Promise<void> {
  await replaceFile(join(folder, `${name}.md`), concluded(folder, { name, by }))
}

/** Removes the file, and its passages from the index. */
export async function remove(folder: string, name: string): Promise<void> {
  get(folder, name)
  rmSync(join(folder, `${name}.md`))
  await (await openNotes(folder)).refresh()
}

/** The best first, each note once. */
export async function search(
  folder: string,
  query: string,
  limit: number,
): Promise<(Note & { score: number })[]> {
  if (!noteNames(folder).length) return []
  const index = await openNotes(folder)
  await index.refresh()
  const found = new Map<string, number>()
  for (const { path, score } of await index.search(query, 3 * limit))
    if (!found.has(path)) found.set(path, score)
  return [...found].slice(0, limit).map(([file, score]) => ({ ...read(folder, file), score }))
}

function concluded(folder: string, { name, by }: { name: string; by: string }): Buffer {
  const { date } = get(folder, name)
  const path = join(folder, `${name}.md`)
  const bytes = readFileSync(path)
  if (bytes.length > maxBytes) throw new Unchangeable(path, `it is larger than ${maxBytes} bytes`)
  try {
    return withLine(bytes, { source: path, key: "concluded", value: by, ifNone: { date } })
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new Unchangeable(path, error.reason)
  }
}

function read(folder: string, file: string): Note {
  const path = join(folder, file)
  const bytes = readFileSync(path).subarray(0, maxBytes)
  const changed = new Date(statOf(path)?.mtimeMs ?? 0).toISOString().slice(0, 10)
  const fallback = { name: basename(file, ".md"), date: changed, kind: "note" }
  try {
    const parsed = parseFrontmatter(bytes, path)
    if (!parsed) return { ...fallback, text: bytes.toString().trim() }
    const head = (parsed.value ?? {}) as Record<string, unknown>
    const texts = Object.fromEntries(
      ["date", "kind", "session", "source", "concluded"].flatMap((key) =>
        typeof head[key] === "string" ? [[key, head[key]]] : [],
      ),
    )
    // The name is that of the file, by which it is found.
    return { ...fallback, ...texts, text: parsed.body }
  } catch {
    return { ...fallback, text: bytes.toString().trim() }
  }
}

function textOf({ text, ...head }: Note): string {
  const lines = (["name", "date", "kind", "session", "source", "concluded"] as const).flatMap((key) => {
    const value = head[key]
    return value === undefined ? [] : [lineOf(key, value)]
  })
  return `---\n${lines.join("\n")}\n---\n\n${text.trim()}\n`
}

function nameOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const name = words.slice(0, 8).join("-").slice(0, maxName)
  return name.replace(/-+$/, "") || "note"
}
