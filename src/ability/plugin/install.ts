// Installs plugins: a copy of the files in the data folder, named by their content, and an entry of the lock file. What
// the lock file does not name is not used.
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { contentOf, type Entry, lockFile, lockText, readLock, rootOf } from "#kernel/plugin/plugins.ts"
import * as Global from "#kernel/process/global.ts"
import { createLock } from "#kernel/storage/lock.ts"
import { NamedError } from "#util/error.ts"
import { replaceFile, temporaryName } from "#util/file/write-file.ts"
import { nearest } from "#util/nearest.ts"
import { hashesOf, Refused, readFolder, type Tree } from "./tree.ts"

/** Milliseconds to wait for another process: a large plugin takes seconds to write. */
const patience = 60_000

class NotInstalled extends NamedError {
  constructor(name: string, known: string[]) {
    const near = nearest(name, known)
    const hint = near ? ` Did you mean "${near}"?` : ""
    super(
      "Plugin.NotInstalled",
      `There is no plugin "${name}".${hint} Installed: ${known.join(", ") || "none"}`,
    )
  }
}

/** Throws `NotInstalled`. */
export function getEntry(name: string): Entry {
  const all = readLock()
  const found = all.find((one) => one.name === name)
  if (found) return found
  throw new NotInstalled(
    name,
    all.map((one) => one.name),
  )
}

/** Adds a plugin, or replaces `before`, the one of the same name that the person was shown. */
export async function install(entry: Entry, tree: Tree, before: Entry | undefined): Promise<void> {
  await change((all) => {
    const now = all.find(({ name }) => name === entry.name)
    if (now?.content !== before?.content)
      throw new Refused(`another process has changed "${entry.name}" meanwhile; run it again`)
    writeCopy(entry.content, tree)
    return [...all.filter((one) => one !== now), entry]
  })
}

export async function uninstall(name: string): Promise<Entry> {
  const entry = getEntry(name)
  await change((all) => all.filter((one) => one.name !== name))
  return entry
}

/** The files of an installed plugin; undefined if they are not as they were installed. */
export function installedTree({ content }: Entry): Tree | undefined {
  const root = rootOf(content)
  if (!existsSync(root)) return undefined
  const tree = readFolder(root)
  return contentOf(hashesOf(tree)) === content ? tree : undefined
}

/** Other processes see the whole copy or none: it is written beside its place and renamed. */
function writeCopy(content: string, tree: Tree): void {
  const root = rootOf(content)
  mkdirSync(dirname(root), { recursive: true, mode: 0o700 })
  const beside = join(dirname(root), temporaryName())
  try {
    for (const [path, { bytes, isExecutable }] of tree) {
      const file = join(beside, path)
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, bytes, { flag: "wx" })
      chmodSync(file, isExecutable ? 0o500 : 0o400)
    }
    // An older copy may have been changed since.
    rmSync(root, { recursive: true, force: true })
    renameSync(beside, root)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/** One process at a time: two that read the file before either writes it would lose an entry. */
async function change(edit: (all: Entry[]) => Entry[]): Promise<void> {
  mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
  const lock = await createLock(join(Global.data(), "plugins.lock"))
  try {
    await lock.acquire(patience)
    const before = readLock()
    const after = edit(before)
    mkdirSync(dirname(lockFile()), { recursive: true })
    await replaceFile(lockFile(), lockText(after))
    const used = new Set(after.map(({ content }) => content))
    for (const { content } of before)
      if (!used.has(content)) rmSync(rootOf(content), { recursive: true, force: true })
  } finally {
    lock.release()
    lock.close()
  }
}
