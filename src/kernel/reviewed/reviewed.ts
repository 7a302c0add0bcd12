// What a person has reviewed in a work tree: a fingerprint (SHA-256 of the content) per file that can make something run
// or widen rights. Loaders read a file once, ask here about these bytes, and use these bytes.
import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { relative, resolve } from "node:path"
import * as Log from "#kernel/process/log.ts"
import type { Rule } from "#kernel/schema/schema.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Vcs from "#kernel/vcs.ts"
import { errorText, NamedError } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { hashText } from "#util/hash-text.ts"
import { ownCommand } from "#util/own-command.ts"

/** Rules of a file that narrow rights (deny and ask), by the id of the agent that they bind; "" for all agents. */
export type Narrowing = Record<string, Rule[]>
/** `narrowing` is known once the file was used. */
type Fingerprint = { hash: string; narrowing?: Narrowing }
/** `files`: by path from the work tree. */
export type Grant = { directory: string; time: number; files: Record<string, Fingerprint> }

export type Reviewed = Readonly<{
  root: string
  /** Whether a person trusted the work tree and reviewed its files. */
  isTrusted: boolean
  /** Changes whenever another file or another content is trusted. */
  stamp: string
  /** Why a file with this content is not trusted; undefined if it is. A string is the hash of the content. */
  refusal(path: string, content: Uint8Array | string): string | undefined
  /** The deny and ask rules that the trusted content of a file had. */
  narrowing(path: string): Narrowing
  /** Every file that was reviewed, whether it is still there or not. */
  paths(): string[]
  /** Store the deny and ask rules of a trusted file: they stay in force after the file changes. */
  keepNarrowing(path: string, content: Uint8Array, rules: Narrowing): Promise<void>
}>

/** The path of a trust operation is not a folder. */
export class InvalidDirectory extends NamedError {
  declare readonly data: { directory: string }

  constructor(directory: string) {
    const what = statOf(directory) ? "is not a directory" : "does not exist or cannot be reached"
    super("Trust.InvalidDirectory", `"${directory}" ${what}; trust belongs to an existing directory`, {
      directory,
    })
  }
}

const neverTrusted = `the folder is not trusted; "${ownCommand} trust" trusts it`
const isNew = `it is new since the folder was reviewed; "${ownCommand} trust" shows it`
const isChanged = `it changed since it was reviewed; "${ownCommand} trust" shows the difference`

/** Grants of this process only, by root. */
const forThisProcess = new Map<string, Grant>()

/** What is reviewed in the work tree of a folder now. The work tree is looked up each time: a `git init` in a parent
 * folder moves it, also for running instances. */
export async function of(directory: string): Promise<Reviewed> {
  const root = rootOf(directory)
  return view(root, await read(root))
}

/** A work tree that nobody has trusted. */
export function nothing(root: string): Reviewed {
  return view(root, undefined)
}

/** A folder whose files were reviewed elsewhere, such as those of an installed plugin: SHA-256 by path. */
export function ofFiles(root: string, hashes: Readonly<Record<string, string>>): Reviewed {
  const files = Object.fromEntries(Object.entries(hashes).map(([path, hash]) => [path, { hash }]))
  const own = view(root, { directory: root, time: 0, files })
  return Object.freeze({
    ...own,
    refusal: (path: string, content: Uint8Array | string) =>
      own.refusal(path, content) && "it is not as it was when the plugin was installed",
    keepNarrowing: () => Promise.resolve(),
  })
}

function view(root: string, grant: Grant | undefined): Reviewed {
  const files = grant?.files
  const nameOf = (path: string) => relative(root, path)
  const known = (path: string) => {
    const name = nameOf(path)
    return files && Object.hasOwn(files, name) ? files[name] : undefined
  }
  return Object.freeze({
    root,
    isTrusted: files !== undefined,
    stamp: stampOf(grant),
    refusal(path: string, content: Uint8Array | string) {
      if (!files) return neverTrusted
      const before = known(path)
      if (!before) return isNew
      return before.hash === hashOf(content) ? undefined : isChanged
    },
    narrowing: (path: string) => known(path)?.narrowing ?? {},
    paths: () => Object.keys(files ?? {}).map((name) => resolve(root, name)),
    async keepNarrowing(path: string, content: Uint8Array, rules: Narrowing) {
      const before = known(path)
      const narrowing = Object.fromEntries(Object.entries(rules).filter(([, list]) => list.length > 0))
      if (!before || JSON.stringify(before.narrowing ?? {}) === JSON.stringify(narrowing)) return
      before.narrowing = narrowing
      await keep(root, nameOf(path), { hash: hashOf(content), narrowing })
    },
  })
}

/** The grant of a work tree: that of this process, else the stored one. A record that names another folder, or no files, is
 * ignored. */
export async function read(root: string): Promise<Grant | undefined> {
  const own = forThisProcess.get(root)
  if (own) return own
  const key = keyOf(root)
  if (Storage.isKnownMissing(key)) return undefined
  const grant = await Storage.read<Grant | null>(key).catch(() => undefined)
  return grant?.directory === root && grant.files ? grant : undefined
}

/** Change which files of a work tree are trusted, and trust the work tree if it was not yet. Two reviews at the same time
 * both count: the record changes under the lock of the storage, and the grants of this process change synchronously. */
export async function change(
  root: string,
  edit: (files: Grant["files"]) => void,
  { keep }: { keep: boolean },
): Promise<void> {
  const time = Date.now()
  const apply = (grant: Grant) => {
    // A record that names another folder is ignored.
    const files = grant.directory === root ? { ...grant.files } : {}
    edit(files)
    Object.assign(grant, { directory: root, time, files })
  }
  if (keep) return updateOrReplace<Grant>(keyOf(root), apply, { directory: root, time, files: {} })
  const stored = await read(root)
  // Another review of this process may have ended meanwhile.
  const before = forThisProcess.get(root) ?? stored
  const grant: Grant = { directory: root, time, files: {}, ...structuredClone(before) }
  apply(grant)
  forThisProcess.set(root, grant)
}

/** Updates a record. A broken one is quarantined by the update and created again. */
export async function updateOrReplace<T extends object>(
  key: string[],
  edit: (record: T) => void,
  initial: T,
): Promise<void> {
  const update = () => Storage.update<T>(key, edit, { initial })
  await update().catch((error) => {
    if (!(error instanceof Storage.Corrupt)) throw error
    return update()
  })
}

export async function remove(root: string): Promise<void> {
  forThisProcess.delete(root)
  await Storage.remove(keyOf(root))
}

export async function list(): Promise<Grant[]> {
  const keys = await Storage.list(["trust"])
  const grants = await Promise.all(
    keys.map((name) => Storage.read<Grant | null>(["trust", name]).catch(() => undefined)),
  )
  return grants.filter((grant): grant is Grant => grant?.directory !== undefined && grant.files !== undefined)
}

/** The work tree that a folder belongs to. */
export function rootOf(directory: string): string {
  if (!statOf(directory)?.isDirectory()) throw new InvalidDirectory(directory)
  const folder = realpathSync.native(directory)
  return Vcs.find(folder)?.worktree ?? folder
}

export function keyOf(root: string, kind = "trust"): string[] {
  return [kind, hashText(root).slice(0, 40)]
}

export function hashOf(content: Uint8Array | string): string {
  return typeof content === "string" ? content : createHash("sha256").update(content).digest("hex")
}

/** Changes nothing if other content is trusted by now: another process may have changed the grant. A failed write is
 * only logged. */
async function keep(root: string, name: string, { hash, narrowing }: Fingerprint): Promise<void> {
  if (forThisProcess.has(root)) return
  try {
    await Storage.update<Grant>(keyOf(root), ({ files }) => {
      if (files[name]?.hash === hash) Object.assign(files[name], { narrowing })
    })
  } catch (error) {
    Log.warn(
      `the deny and ask rules of ${name} are not recorded, so they end when it changes: ${errorText(error)}`,
    )
  }
}

function stampOf(grant: Grant | undefined): string {
  if (!grant) return ""
  const hashes = Object.entries(grant.files).map(([path, { hash }]) => [path, hash])
  return createHash("sha256").update(JSON.stringify(hashes.sort())).digest("hex").slice(0, 16)
}
