// Lists the files of a repository, and describes it in a few lines: size, languages, folders. Numbers are rounded, so that
// the description stays the same during work and prompt caches stay valid.
import { extname } from "node:path"
import * as Log from "#kernel/process/log.ts"
import * as Ripgrep from "./ripgrep.ts"
import type { Listing } from "./source.ts"

const maxFiles = 50_000
const maxTop = 24
const maxName = 60

const languages: Record<string, string> = {
  ".c": "C",
  ".h": "C",
  ".cc": "C++",
  ".cpp": "C++",
  ".hpp": "C++",
  ".cs": "C#",
  ".css": "CSS",
  ".scss": "CSS",
  ".dart": "Dart",
  ".ex": "Elixir",
  ".exs": "Elixir",
  ".go": "Go",
  ".html": "HTML",
  ".java": "Java",
  ".js": "JavaScript",
  ".jsx": "JavaScript",
  ".mjs": "JavaScript",
  ".cjs": "JavaScript",
  ".json": "JSON",
  ".kt": "Kotlin",
  ".lua": "Lua",
  ".md": "Markdown",
  ".php": "PHP",
  ".proto": "Protocol Buffers",
  ".py": "Python",
  ".rb": "Ruby",
  ".rs": "Rust",
  ".scala": "Scala",
  ".sh": "Shell",
  ".sql": "SQL",
  ".svelte": "Svelte",
  ".swift": "Swift",
  ".ts": "TypeScript",
  ".tsx": "TypeScript",
  ".mts": "TypeScript",
  ".cts": "TypeScript",
  ".vue": "Vue",
  ".yaml": "YAML",
  ".yml": "YAML",
  ".zig": "Zig",
}

/** The names in order. Stops after `maxSeen` files. Keeps at most a few times `limit` names in memory. */
export async function listFiles(options: {
  cwd: string
  limit: number
  maxSeen?: number
  accepts(file: string): boolean
  signal?: AbortSignal | undefined
}): Promise<Listing> {
  const { cwd, limit, accepts, maxSeen = 500_000, signal } = options
  let names: string[] = []
  let [total, seen] = [0, 0]
  const trim = () => {
    names = names.sort().slice(0, limit)
  }
  const { code } = await Ripgrep.run({
    args: ["--files", "--null", "--no-messages", "--no-require-git"],
    cwd,
    separator: "\0",
    ...(signal ? { signal } : {}),
    onPiece: (file) => {
      if (accepts(file)) {
        total++
        names.push(file)
        if (names.length >= 8 * limit + 1_000) trim()
      }
      return ++seen < maxSeen
    },
  })
  trim()
  return { names, total, more: code === undefined }
}

export async function describeFiles(options: {
  cwd: string
  accepts(file: string): boolean
  signal?: AbortSignal | undefined
}): Promise<string> {
  const { names, total, more } = await listFiles({ ...options, limit: maxFiles, maxSeen: maxFiles })
  if (!total) return "The repository has no files yet."
  const known = names.flatMap((name) => languages[extname(name).toLowerCase()] ?? [])
  const parts = counted(known).flatMap(([name, count]) => share(name, count / names.length))
  const folders = counted(names.flatMap((name) => (name.includes("/") ? [name.split("/", 1)[0]!] : [])))
  const top = [
    ...folders.map(([name, count]) => `${shown(name)}/ (${rounded(count)})`),
    ...names.filter((name) => !name.includes("/")).map(shown),
  ]
  const rest = top.length > maxTop ? `, and ${rounded(top.length - maxTop)} more` : ""
  return [
    `The repository has ${more ? "more than" : "about"} ${rounded(total)} ${total === 1 ? "file" : "files"}, without what is ignored.`,
    ...(parts.length ? [`Languages: ${parts.join(", ")}`] : []),
    `At its root, folders with their files: ${top.slice(0, maxTop).join(", ")}${rest}`,
  ].join("\n")
}

/** Words and how often they occur, the most frequent first. */
function counted(words: string[]): [word: string, count: number][] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
}

/** A share in steps of 5 %. Shares that round to 0 are left out. */
function share(name: string, part: number): string[] {
  const percent = Math.round(part * 20) * 5
  return percent > 0 ? [`${name} ${percent} %`] : []
}

/** Numbers up to 10 stay as they are. Larger ones are rounded to one significant digit, from 100 on to two. */
function rounded(count: number): number {
  return count <= 10 ? count : Number(count.toPrecision(count < 100 ? 1 : 2))
}

/** Names are untrusted: control characters are escaped, and long names cut. */
function shown(name: string): string {
  const plain = Log.escapeControls(name)
  return plain.length > maxName ? `${plain.slice(0, maxName)}…` : plain
}
