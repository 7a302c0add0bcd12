// Every file of a work tree that can make something run or widen rights, as it is on the disk now: configuration, MCP
// servers, agents, commands, guards, hooks, skills with their scripts, and the project files that these import or name as a
// command.
import { extname, join, resolve } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { namesIn as allNamesIn, statOf } from "#util/file/path-info.ts"
import { JsoncError, parseJsonc } from "#util/parse/jsonc.ts"
import { hookCommands, reviewedBytes } from "./hook-content.ts"
import {
  agentFolders,
  commandDepth,
  commandFolders,
  foreignHookFiles,
  guardFolder,
  hookFile,
  isAgentFile,
  isGuardFile,
  levels,
  maxProgram,
  pluginFiles,
  serverFiles,
  skillFolders,
} from "./places.ts"
import { namedByText, withImports } from "./project-code.ts"

const hookFiles = [hookFile, ...foreignHookFiles]
const configuration = [".vitamin/config.jsonc", ".vitamin/config.ts", ".plaited/config.ts"]

/** Files beyond these limits are not reviewed, and so not trusted. */
const maxFiles = 2_000
const maxTotal = 256 << 20
const maxDepth = 5

/** Content by path. `skills` are further folders of skills, `known` further files, `also` files or folders of files. */
export async function coveredFiles(options: {
  root: string
  directory: string
  skills: string[]
  known: string[]
  also: string[]
}): Promise<Map<string, Buffer>> {
  const { root, directory, skills } = options
  const found = new Map<string, Buffer>()
  let total = 0
  const folders = new Set([
    ...levels(directory, root).flatMap((level) => skillFolders.map((name) => join(level, name))),
    join(root, "skills"),
    ...skills.map((name) => resolve(root, name)),
  ])
  for (const name of [...configuration, ...serverFiles]) await addWithCommands(join(root, name), root)
  for (const name of hookFiles) await addWithCommands(join(root, name), root)
  for (const path of pluginFiles(root)) await addWithCommands(path, root)
  for (const path of agentFolders.flatMap((folder) => pathsIn(join(root, folder))))
    if (isAgentFile(path)) await add(path)
  for (const level of levels(directory, root))
    for (const path of commandFolders.flatMap((name) => filesBelow(join(level, name), commandDepth)))
      if (path.endsWith(".md")) await add(path)
  for (const path of pathsIn(join(root, guardFolder))) if (isGuardFile(path)) await add(path)
  for (const folder of folders) await addSkills(folder)
  for (const path of options.known) if (statOf(path)?.isFile()) await add(path)
  for (const path of options.also) {
    if (!statOf(path)?.isDirectory()) await add(path)
    else for (const name of namesIn(path)) await add(join(path, name))
  }
  return found

  /** A file and what it imports. */
  async function add(path: string): Promise<Buffer | undefined> {
    const known = found.get(path)
    if (known) return known
    const bytes = await contentOf(path)
    if (!bytes) return undefined
    total += bytes.length
    if (found.size >= maxFiles || total > maxTotal) {
      const message = `it would be one of more than ${maxFiles} files or ${maxTotal} bytes`
      return void Log.warn(`${path} cannot be reviewed, so it is not trusted: ${message}`)
    }
    found.set(path, bytes)
    for (const other of withImports(path, root, bytes)) if (other !== path) await add(other)
    return bytes
  }

  /** Adds a file that may name commands, and the files that it names. Folders that it names may hold skills. */
  async function addWithCommands(path: string, ...starts: string[]): Promise<void> {
    const bytes = await add(path)
    if (!bytes) return
    const named = namedByText(commandTextOf(path, bytes, root), starts, root)
    for (const file of named.files) await add(file)
    for (const folder of named.folders) if (hasSkills(folder)) folders.add(folder)
  }

  async function addSkills(folder: string): Promise<void> {
    for (const name of ["", ...namesIn(folder)]) {
      const path = join(folder, name)
      if (extname(name) === ".md" && frontOf(await contentOf(path))) await addWithCommands(path, folder, root)
      const file = ["SKILL.md", "skill.md"].map((one) => join(path, one)).find((one) => statOf(one))
      if (!file) continue
      await addWithCommands(file, path, root)
      for (const script of filesBelow(join(path, "scripts"), maxDepth)) await add(script)
    }
  }
}

/** The part of a file that may name commands. */
function commandTextOf(path: string, bytes: Buffer, root: string): string {
  if (extname(path) === ".md") return frontOf(bytes) ?? ""
  if (hookFiles.some((name) => path === join(root, name))) return hookCommands(bytes, path, root)
  if (!path.endsWith("config.jsonc")) return bytes.toString()
  try {
    return JSON.stringify(parseJsonc(bytes, path).value.mcp) ?? ""
  } catch (error) {
    if (error instanceof JsoncError) return ""
    throw error
  }
}

function frontOf(bytes: Buffer | undefined): string | undefined {
  return /^\uFEFF?---\r?\n[\s\S]*?\n---/.exec(bytes?.toString() ?? "")?.[0]
}

function hasSkills(folder: string): boolean {
  return namesIn(folder).some((name) => statOf(join(folder, name, "SKILL.md")))
}

function filesBelow(folder: string, depth: number): string[] {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    const stat = statOf(path)
    if (stat?.isDirectory()) return depth > 1 && name !== "node_modules" ? filesBelow(path, depth - 1) : []
    return stat?.isFile() ? [path] : []
  })
}

async function contentOf(path: string): Promise<Buffer | undefined> {
  try {
    const bytes = await readSmallFile(path, undefined, maxProgram)
    return bytes && reviewedBytes(path, bytes)
  } catch (error) {
    Log.warn(`${path} cannot be reviewed, so it is not trusted: ${errorText(error)}`)
    return undefined
  }
}

function pathsIn(folder: string): string[] {
  return namesIn(folder).map((name) => join(folder, name))
}

function namesIn(folder: string): string[] {
  return allNamesIn(folder).slice(0, maxFiles)
}
