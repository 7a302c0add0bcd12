// Which formatter a file has: a configured one, or a known one that the project uses. A known one counts only if the project
// has its configuration or depends on it, and only if that configuration is data: an edit must not run code of the project
// that the same agent may have written.
import { extname, join } from "node:path"
import * as ProjectTools from "#ability/shell/project-tools.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { namesIn, textOf } from "#util/file/path-info.ts"
import { prettierRunsCode } from "./runs-project-code.ts"

export type Formatter = { id: string; command: readonly string[]; env: Record<string, string>; cwd: string }
type Known = {
  id: string
  extensions: ReadonlySet<string>
  program: string
  args: readonly string[]
  /** True if the project uses it; `folders` are those from the file up to the work tree. */
  isUsed(folders: readonly string[]): boolean
}

const code = [".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"]
const known: readonly Known[] = [
  {
    id: "biome",
    extensions: new Set([...code, ".json", ".jsonc", ".css", ".graphql"]),
    program: "biome",
    args: ["format", "--write", "$FILE"],
    isUsed: (folders) => hasFile(folders, /^\.?biome\.jsonc?$/) || dependsOn(folders, "@biomejs/biome"),
  },
  {
    id: "prettier",
    extensions: new Set([
      ...[...code, ".json", ".jsonc", ".json5", ".css", ".scss", ".less", ".html", ".vue"],
      ...[".md", ".mdx", ".yaml", ".yml", ".graphql"],
    ]),
    program: "prettier",
    args: ["--write", "--log-level", "warn", "$FILE"],
    isUsed: (folders) =>
      (hasFile(folders, /^\.prettierrc/) || dependsOn(folders, "prettier")) && !prettierRunsCode(folders),
  },
  {
    id: "ruff",
    extensions: new Set([".py", ".pyi"]),
    program: "ruff",
    args: ["format", "--quiet", "$FILE"],
    isUsed: (folders) =>
      hasFile(folders, /^\.?ruff\.toml$/) ||
      folders.some((folder) => /^\[tool\.ruff/m.test(textOf(join(folder, "pyproject.toml")) ?? "")),
  },
  {
    id: "gofmt",
    extensions: new Set([".go"]),
    program: "gofmt",
    args: ["-w", "$FILE"],
    isUsed: (folders) => hasFile(folders, /^go\.mod$/),
  },
]

/** Undefined if there is none. */
export async function findFormatter(path: string): Promise<Formatter | undefined> {
  const { formatter } = await Config.get()
  if (formatter === false) return undefined
  const ending = extname(path).toLowerCase()
  const cwd = Instance.worktree
  for (const [id, own] of Object.entries(formatter ?? {}))
    if (own !== false && own.extensions.includes(ending))
      return { id, command: own.command, env: own.env ?? {}, cwd }
  const folders = ProjectTools.foldersAbove(path)
  for (const { id, extensions, program, args, isUsed } of known) {
    if (!extensions.has(ending) || Object.hasOwn(formatter ?? {}, id) || !isUsed(folders)) continue
    const command = ProjectTools.find(folders, [program])
    if (command) return { id, command: [...command, ...args], env: {}, cwd: folders[0]! }
  }
  return undefined
}

function hasFile(folders: readonly string[], name: RegExp): boolean {
  return folders.some((folder) => namesIn(folder).some((one) => name.test(one)))
}

function dependsOn(folders: readonly string[], name: string): boolean {
  return folders.some((folder) => {
    const text = textOf(join(folder, "package.json")) ?? ""
    return text.includes(`"${name}"`)
  })
}
