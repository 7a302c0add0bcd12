// A person gives trust to the files of a work tree by content: a file that was changed, added or removed since its review is
// not trusted. `grant` trusts all files as they are now; `pending` and `accept` review them one by one. Loaders use
// kernel/reviewed/reviewed.ts.
import { realpathSync } from "node:fs"
import { relative, resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { coveredFiles } from "#kernel/reviewed/covered-files.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Storage from "#kernel/storage/storage.ts"

export { type Grant, InvalidDirectory, list, rootOf } from "#kernel/reviewed/reviewed.ts"

/** A file that waits for review. `before` is the trusted content as far as it is kept, `after` the present one. */
export type Change = {
  /** From the work tree. */
  path: string
  state: "new" | "changed" | "removed"
  before?: string
  after?: Buffer
}
type Options = {
  /** Files, or folders of files, to cover beside those that are found. */
  also?: string[]
}
type Kept = Record<string, string>

/** Trusted content is stored, to show differences later. Larger or binary content is not. */
const maxKept = 256 << 10
const maxKeptTotal = 8 << 20

/** Whether a person trusted the work tree of a folder and reviewed its files. Single files may still wait for review. */
export async function check(directory: string): Promise<boolean> {
  return (await Reviewed.of(directory)).isTrusted
}

/** Trust the work tree of a folder as it is now: stored by default, or with `keep: false` for this process only.
 * Returns the trusted folder. */
export async function grant(directory: string, options: Options & { keep?: boolean } = {}): Promise<string> {
  const root = Reviewed.rootOf(directory)
  await accept(directory, await pending(directory, options), options)
  return root
}

/** Take trust back. */
export async function remove(directory: string): Promise<string> {
  const root = Reviewed.rootOf(directory)
  await Reviewed.remove(root)
  await Storage.remove(Reviewed.keyOf(root, "trust-content"))
  return root
}

/** The files of a work tree that differ from what a person has reviewed, sorted by path. */
export async function pending(directory: string, { also = [] }: Options = {}): Promise<Change[]> {
  const root = Reviewed.rootOf(directory)
  const grant = await Reviewed.read(root)
  const reviewed = grant?.files ?? {}
  const kept = await readKept(root)
  const found = await coveredFiles({
    root,
    directory: realpathSync(directory),
    skills: await skillsOf(root),
    known: Object.keys(reviewed).map((path) => resolve(root, path)),
    also,
  })
  const changes: Change[] = []
  for (const [file, after] of found) {
    const path = relative(root, file)
    const known = Object.hasOwn(reviewed, path) ? reviewed[path] : undefined
    if (known?.hash === Reviewed.hashOf(after)) continue
    const before = known && kept[path]
    const state = known ? "changed" : "new"
    changes.push({ path, state, after, ...(before === undefined ? {} : { before }) })
  }
  for (const path of Object.keys(reviewed))
    if (!found.has(resolve(root, path))) {
      const before = kept[path]
      changes.push({ path, state: "removed", ...(before === undefined ? {} : { before }) })
    }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Trust these changes, and the work tree if it was not trusted yet. */
export async function accept(
  directory: string,
  changes: readonly Change[],
  options: { keep?: boolean } = {},
): Promise<void> {
  const { keep = true } = options
  const root = Reviewed.rootOf(directory)
  if (keep) await keepContent(root, changes)
  await Reviewed.change(
    root,
    (files) => {
      for (const { path, after } of changes) {
        delete files[path]
        if (after) files[path] = { hash: Reviewed.hashOf(after) }
      }
    },
    { keep },
  )
}

/** The content of a file when it was reviewed, as far as it is kept. */
export async function trustedText(directory: string, path: string): Promise<string | undefined> {
  const root = Reviewed.rootOf(directory)
  const { files = {} } = (await Reviewed.read(root)) ?? {}
  const text = (await readKept(root))[path]
  // Kept content counts only as long as the review does.
  const isReviewed = text !== undefined && Object.hasOwn(files, path)
  return isReviewed && files[path]?.hash === Reviewed.hashOf(Buffer.from(text)) ? text : undefined
}

/** The text of a file that can be shown line by line. */
export function textOf(content: Uint8Array): string | undefined {
  if (content.length > maxKept || content.includes(0)) return undefined
  return Buffer.from(content).toString()
}

async function keepContent(root: string, changes: readonly Change[]): Promise<void> {
  const change = (kept: Kept) => {
    for (const { path, after } of changes) {
      delete kept[path]
      const text = after && textOf(after)
      if (text !== undefined) kept[path] = text
    }
    const names = new Set(Object.keys(bounded(kept)))
    for (const path of Object.keys(kept)) if (!names.has(path)) delete kept[path]
  }
  await Reviewed.updateOrReplace<Kept>(Reviewed.keyOf(root, "trust-content"), change, {})
}

function bounded(kept: Kept): Kept {
  let total = 0
  return Object.fromEntries(
    Object.entries(kept).filter(([, text]) => {
      total += text.length
      return total <= maxKeptTotal
    }),
  )
}

async function readKept(root: string): Promise<Kept> {
  const kept = await Storage.read<Kept>(Reviewed.keyOf(root, "trust-content")).catch(() => undefined)
  return { ...kept }
}

/** The folder of skills that a JSON configuration names. For TypeScript, `coveredFiles` finds the folder in the text. */
async function skillsOf(directory: string): Promise<string[]> {
  const found = await Config.inspect({ directory, isTrusted: false }).catch(() => undefined)
  const name = found?.config.skills?.root
  return name === undefined ? [] : [name]
}
