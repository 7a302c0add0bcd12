// Lists the files beside a SKILL.md: scripts with a description from their first comment, and assets. Nothing is run, and
// only the beginning of a script is read.
import { basename, extname, join, relative } from "node:path"
import { readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import { namesIn, realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import type { SkillScript } from "./skill-types.ts"

type Home = { folder: string; root: string }

const runners: Record<string, string> = {
  ".ts": "node",
  ".mts": "node",
  ".js": "node",
  ".mjs": "node",
  ".cjs": "node",
  ".sh": "bash",
  ".bash": "bash",
  ".py": "python3",
  ".rb": "ruby",
  ".pl": "perl",
}
const ignored = /^\.|^node_modules$|^__pycache__$/
const maxFiles = 100
const maxDepth = 4
/** Limits the scan if links form a circle. */
const maxNames = 1_000
const headBytes = 4_096
const maxDescription = 200

export function listScripts(home: Home): SkillScript[] {
  return filesIn(home, "scripts").flatMap((file) => {
    if (/\.(test|spec|d)\.\w+$/.test(file)) return []
    const extension = extname(file)
    const isProgram = extension === "" && Boolean((statOf(file)?.mode ?? 0) & 0o111)
    const runner = isProgram ? "" : runners[extension]
    if (runner === undefined) return []
    return [{ name: basename(file, extension), file, runner, description: describe(file, home.root) }]
  })
}

/** Paths relative to the folder of the skill. */
export function listAssets(home: Home): string[] {
  return filesIn(home, "assets").map((file) => relative(home.folder, file))
}

/** Files of a folder and its subfolders, in order. Links are followed only inside `root`. */
function filesIn({ folder, root }: Home, name: string): string[] {
  const files: string[] = []
  let names = 0
  const scan = (path: string, depth: number) => {
    for (const entry of namesIn(path)) {
      if (ignored.test(entry)) continue
      if (files.length >= maxFiles || ++names > maxNames) return
      const file = join(path, entry)
      const real = realOf(file)
      const stat = real !== undefined && isInside(root, real) ? statOf(real) : undefined
      if (!stat) continue
      if (stat.isFile()) files.push(file)
      else if (stat.isDirectory() && depth < maxDepth) scan(file, depth + 1)
    }
  }
  scan(join(folder, name), 1)
  return files
}

/** The first words of its first comment. */
function describe(path: string, root: string): string {
  try {
    return firstComment(readDocument({ root, path, maxBytes: headBytes }).text)
  } catch (error) {
    if (error instanceof Unreadable) return ""
    throw error
  }
}

/** The words of the comment that a script begins with; "" if there is none. */
export function firstComment(text: string): string {
  const rest = text.replace(/^#!.*\n/, "").trimStart()
  const block = /^(?:\/\*+|"""|''')([\s\S]*?)(?:\*\/|"""|''')/.exec(rest)?.[1]
  const lines = block?.split("\n") ?? linesOf(rest)
  const words = lines.map((line) => line.replace(/^\s*(\*|\/\/+|#+)?\s?/, "").trim())
  const end = words.findIndex(
    (line, i) => i > 0 && (line === "" || line.startsWith("@")) && words[i - 1] !== "",
  )
  return (end < 0 ? words : words.slice(0, end))
    .join(" ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, maxDescription)
}

function linesOf(text: string): string[] {
  const lines = text.split("\n")
  const end = lines.findIndex((line) => !/^\s*(\/\/|#)/.test(line))
  return end < 0 ? lines : lines.slice(0, end)
}
