// Paths in a writable folder that decide what runs later (hooks, configuration of agents, editors and shells): read-only
// inside. A path that does not exist needs something to mount on, so an empty folder is put there until the boundary
// ends. Git and most programs ignore empty folders.
import { type Dirent, mkdir, readdirSync, writeFile } from "node:fs"
import { homedir } from "node:os"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { isOwnConfiguration } from "#ability/permission/protected-paths.ts"
import { errorCode } from "#util/error.ts"
import { namesIn } from "#util/file/path-info.ts"
import { NotIsolated } from "./policy.ts"

/** `mode`: how the path is mounted over itself, or as an empty folder. A mount cannot be renamed, moved or removed. */
export type Place = { path: string; mode: "read" | "write" | "empty" }
/** `text`: the content of a file; otherwise a folder. */
export type Missing = { path: string; text?: string }

/** Names that make something run when a folder is opened or entered. The other protected names are read-only only if they
 * exist: a program has to be asked to use them. */
const early =
  ".vitamin .plaited .mcp.json .claude .codex .gemini .opencode .cursor .vscode .idea .zed .envrc .husky .githooks .devcontainer .git".split(
    " ",
  )
/** Read by shells at their start, in a home folder. */
const shellFiles =
  ".bashrc .bash_profile .bash_login .profile .zshenv .zprofile .zshrc .zlogin .gitconfig".split(" ")
/** In a repository: `modules` and `worktrees` have hooks and configuration of other work trees. */
const gitFolders = ["hooks", "info", "modules", "worktrees"]

/** `.git/commondir` could lead git to another configuration. With this text it means what no file means. */
export const gitText = ".\n"

/** The places in a writable folder, and what must be created for them. */
export function protectedPlaces(folder: string): { places: Place[]; missing: Missing[] } {
  const entries = entriesOf(folder)
  const places: Place[] = []
  const missing: Missing[] = []
  const absent = (names: string[]) => names.filter((name) => !entries.has(name))
  for (const name of absent(early)) missing.push({ path: join(folder, name) })
  for (const name of folder === homedir() ? absent(shellFiles) : [])
    missing.push({ path: join(folder, name), text: "" })
  for (const [name, entry] of entries) {
    const path = join(folder, name)
    if (isOwnConfiguration({ segments: [name], isAbsolute: false })) {
      refuseLink(entry)
      if (name === ".git" && entry.isDirectory()) addRepository(path, places, missing)
      else places.push(closed(entry))
    } else if (name.startsWith(".") && entry.isDirectory()) addPairs(path, places)
  }
  places.push(
    ...missing.map(({ path, text }): Place => ({ path, mode: text === undefined ? "empty" : "read" })),
  )
  return { places, missing }
}

export async function createPlace({ path, text }: Missing): Promise<void> {
  try {
    if (text === undefined) await promisify(mkdir)(path)
    else await promisify(writeFile)(path, text, { flag: "wx" })
  } catch (error) {
    if (errorCode(error) === "EEXIST") return
    throw new NotIsolated(`${path} cannot be protected (${errorCode(error)}).`)
  }
}

/** The folder of a repository is a mount of its own, so that it cannot be moved away with what is protected in it. */
function addRepository(git: string, places: Place[], missing: Missing[]): void {
  const entries = entriesOf(git)
  places.push({ path: git, mode: "write" })
  for (const name of [...gitFolders, "config", "config.worktree", "commondir"]) {
    const entry = entries.get(name)
    if (entry) refuseLink(entry)
    if (entry) places.push(closed(entry))
    else if (gitFolders.includes(name)) missing.push({ path: join(git, name) })
    else if (name === "commondir") missing.push({ path: join(git, name), text: gitText })
  }
}

/** Such as `.github/workflows`. */
function addPairs(folder: string, places: Place[]): void {
  for (const [name, entry] of entriesOf(folder)) {
    if (!isOwnConfiguration({ segments: [basename(folder), name], isAbsolute: false })) continue
    refuseLink(entry)
    places.push({ path: folder, mode: "write" }, closed(entry))
  }
}

function closed(entry: Dirent): Place {
  const path = join(entry.parentPath, entry.name)
  return { path, mode: entry.isDirectory() && namesIn(path).length === 0 ? "empty" : "read" }
}

/** A link cannot be mounted over, so a program inside could replace it. */
function refuseLink(entry: Dirent): void {
  const path = join(entry.parentPath, entry.name)
  if (entry.isSymbolicLink())
    throw new NotIsolated(
      `${path} is a symbolic link, which cannot be protected. Replace it by what it leads to, or do not allow writing there.`,
    )
}

function entriesOf(folder: string): Map<string, Dirent> {
  return new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry]))
}
