// Commands: prompts in Markdown files that a person calls by `/name`. They are read when somebody types or lists one. Of
// equal names the nearest wins; but the person's own command wins over an unreviewed one of the project.
import { type Dirent, readdirSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { withRoot } from "#kernel/plugin/plugins.ts"
import { commandDepth } from "#kernel/reviewed/places.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { type CommandPlace, commandPlaces } from "./command-places.ts"
import { type CommandText, readCommand } from "./read-command.ts"

/** `name` is what is typed after the slash. `isOwn`: the person's, not the project's. `refusal` says why the file is not
 * trusted: then its text is used, and nothing of it that runs or allows something. */
export type Info = CommandText & { name: string; file: string; isOwn: boolean; refusal?: string | undefined }
type Problem = { file: string; message: string }
type Listing = { commands: Info[]; problems: Problem[] }

type Found = { file: string; name: string; place: CommandPlace }
type Read = { stamp: string; text?: CommandText; hash?: string; problem?: string }

const maxBytes = 256 << 10
/** The limits are for hostile folders. */
const maxFiles = 1_000
const maxNames = 5_000
const segment = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u
/** Files by path, with their state when they were read. */
const cache = Instance.state(() => new Map<string, Read>())

/** All commands by name, and what is not used as it was written. */
export async function list(): Promise<Listing> {
  const problems: Problem[] = []
  const found = commandPlaces().flatMap((place) => filesOf(place, problems))
  if (!found.length) return { commands: [], problems }
  const isProjects = ({ place }: Found) => place.root !== undefined && !place.plugin
  const hasProjects = found.some(isProjects)
  const reviewed = hasProjects ? await Reviewed.of(Instance.worktree) : undefined
  const all: Info[] = []
  for (const one of found) {
    const read = await readFile(one)
    const { text, hash, problem } = read
    if (problem !== undefined) problems.push({ file: one.file, message: `it is not used: ${problem}` })
    if (!text) continue
    const isOwn = !isProjects(one)
    const { plugin } = one.place
    const changed = plugin?.reviewed.refusal(one.file, hash!)
    if (changed) {
      problems.push({ file: one.file, message: `it is not used: ${changed}` })
      continue
    }
    const refusal = isOwn ? undefined : reviewed!.refusal(one.file, hash!)
    const body = plugin ? withRoot(text.body, plugin.root) : text.body
    all.push({ ...text, body, name: one.name, file: one.file, isOwn, refusal })
  }
  const isFirst = ({ refusal }: Info) => refusal === undefined
  // A project must not replace a command of the person before somebody has reviewed it.
  return merge([...all.filter(isFirst), ...all.filter((one) => !isFirst(one))], problems)
}

/** By its whole name, or by the last part of it if only one command ends so. */
export function find(name: string, commands: readonly Info[]): Info | undefined {
  const exact = commands.find((one) => one.name === name)
  if (exact || name.includes(":")) return exact
  const [only, ...more] = commands.filter((one) => one.name.endsWith(`:${name}`))
  return more.length ? undefined : only
}

function merge(all: readonly Info[], problems: Problem[]): Listing {
  const byName = new Map<string, Info>()
  for (const command of all) {
    const { name, file } = command
    const first = byName.get(name)
    if (!first) {
      byName.set(name, command)
      for (const message of command.problems) problems.push({ file, message })
    } else if (first.body !== command.body)
      problems.push({ file, message: `it is not used: ${first.file} has the name "${name}" already` })
  }
  const commands = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return { commands, problems }
}

/** Each folder below is a part of the name: `git/commit.md` is `/git:commit`. */
function filesOf(place: CommandPlace, problems: Problem[]): Found[] {
  const found: Found[] = []
  const visit = (folder: string, depth: number) => {
    for (const entry of entriesOf(folder)) {
      const file = join(folder, entry.name)
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && statOf(file)?.isDirectory())
      // A link to a folder above would never end.
      if (isFolder && !entry.isSymbolicLink() && depth < commandDepth) visit(file, depth + 1)
      if (isFolder || !entry.name.endsWith(".md")) continue
      if (!take(file, relative(place.folder, file))) return
    }
  }
  const take = (file: string, path: string): boolean => {
    const own = path.slice(0, -".md".length).split("/")
    const parts = place.plugin ? [place.plugin.name, ...own] : own
    if (!parts.every((part) => segment.test(part))) {
      const message = "it is not used: its name has other characters than letters, digits, _ . -"
      problems.push({ file, message })
      return true
    }
    if (found.length < maxFiles) found.push({ file, name: parts.join(":"), place })
    else problems.push({ file: place.folder, message: `only the first ${maxFiles} files are used` })
    return found.length < maxFiles
  }
  if (place.folder.endsWith(".md")) take(place.folder, basename(place.folder))
  else visit(place.folder, 1)
  return found
}

function entriesOf(folder: string): Dirent[] {
  if (!statOf(folder)) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."))
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, maxNames)
  } catch {
    return []
  }
}

async function readFile({ file, place }: Found): Promise<Read> {
  const { ino, size, mtimeMs, ctimeMs } = statOf(file) ?? {}
  const stamp = JSON.stringify([place.root, ino, size, mtimeMs, ctimeMs])
  const known = cache().get(file)
  if (known?.stamp === stamp) return known
  const read: Read = { stamp, ...(await readAnew(file, place)) }
  cache().set(file, read)
  return read
}

async function readAnew(file: string, { root }: CommandPlace): Promise<Omit<Read, "stamp">> {
  try {
    const bytes = await readSmallFile(file, root, maxBytes)
    if (!bytes) return { problem: "it is gone" }
    return { text: await readCommand(file, bytes), hash: Reviewed.hashOf(bytes) }
  } catch (error) {
    return { problem: errorText(error) }
  }
}
