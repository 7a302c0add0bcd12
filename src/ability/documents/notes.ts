// Notes: Markdown files with a small front matter that people can read, edit and delete. Memory entries and recorded
// knowledge are notes. A file that a person wrote without front matter counts too.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { nearest } from "#util/nearest.ts"
import { parseFrontmatter } from "#util/parse/frontmatter.ts"
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

export function list(folder: string): Note[] {
  return noteNames(folder)
    .map((file) => read(folder, file))
    .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : a.name < b.name ? -1 : 1))
}

/** Writes a new note, under a name that is free. */
export function add(folder: string, note: Omit<Note, "name" | "date"> & { name?: string | undefined }): Note {
  const wanted = nameOf(note.name ?? note.text)
  const taken = new Set(noteNames(folder))
  let name = wanted
  for (let i = 2; taken.has(`${name}.md`); i++) name = `${wanted}-${i}`
  const made = { ...note, name, date: new Date().toISOString().slice(0, 10) }
  write(folder, made)
  return made
}

export function write(folder: string, { text, ...head }: Note): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lines = (["name", "date", "kind", "session", "source", "concluded"] as const).flatMap((key) => {
    const value = head[key]
    return value === undefined ? [] : [`${key}: ${/^[\w-]+$/.test(value) ? value : JSON.stringify(value)}`]
  })
  writeFileSync(join(folder, `${head.name}.md`), `---\n${lines.join("\n")}\n---\n\n${text.trim()}\n`, {
    mode: 0o600,
  })
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

function nameOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const name = words.slice(0, 8).join("-").slice(0, maxName)
  return name.replace(/-+$/, "") || "note"
}
