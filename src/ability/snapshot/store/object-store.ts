// The bytes of snapshots: a bare git object store outside every project. Single files are stored without a git
// process; git packs many and reads packs. Nothing is returned unless its hash is right.
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync, inflateSync } from "node:zlib"
import { errorCode } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { Lost } from "./errors.ts"
import { runGit } from "./run-git.ts"

export type Algorithm = "sha1" | "sha256"
export type ObjectStore = ReturnType<typeof createObjectStore>

const atOnce = 64
const maxTries = 100

export function createObjectStore(options: {
  gitDir: string
  algorithm: Algorithm
  /** Object folders of the project, which are only read. */
  objects: string | undefined
  /** Called when the store had to be created: caches of its content are no longer valid. */
  onMade(): void
  /** Asks the store that servers share. */
  fetch(hash: string): Promise<Buffer | undefined>
}) {
  const { gitDir, algorithm, objects } = options
  const written = { count: 0, bytes: 0 }
  const wanted = [
    ["HEAD", "ref: refs/heads/none\n"],
    ["config", configOf(algorithm)],
  ] as const

  /** Create the store, or repair it. */
  function ensure(): void {
    if (["objects", "refs"].every((name) => existsSync(join(gitDir, name))) && wanted.every(isThere)) return
    for (const folder of ["objects/info", "objects/pack", "refs/heads", "info"])
      mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 })
    for (const [name, content] of wanted) writeFileSync(join(gitDir, name), content)
    options.onMade()
  }

  function isThere([name, content]: readonly [name: string, content: string]): boolean {
    try {
      return readFileSync(join(gitDir, name), "utf8") === content
    } catch {
      return false
    }
  }

  function hashOf(bytes: Buffer): string {
    return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
  }

  /** Store bytes. Existing objects are not written again. */
  function put(bytes: Buffer): string {
    const hash = hashOf(bytes)
    const file = fileOf(hash)
    if (refresh(file)) return hash
    ensure()
    const packed = deflateSync(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), { level: 1 })
    const aside = join(gitDir, "objects", `tmp_${createId("obj")}`)
    try {
      writeFileSync(aside, packed, { mode: 0o600, flag: "wx" })
      place(aside, file)
    } catch (error) {
      rmSync(aside, { force: true })
      throw error
    }
    written.count++
    written.bytes += packed.length
    return hash
  }

  /** The bytes of each hash that the store, the project or another server has. Damaged objects are left out. */
  async function readSome(hashes: readonly string[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    const others: string[] = []
    for (const hash of new Set(hashes)) {
      const bytes = readLoose(hash)
      if (bytes) found.set(hash, bytes)
      else others.push(hash)
    }
    if (others.length) for (const [hash, bytes] of await readPacked(others)) found.set(hash, bytes)
    for (const hash of others) {
      const bytes = found.has(hash) ? undefined : await options.fetch(hash)
      if (bytes && put(bytes) === hash) found.set(hash, bytes)
    }
    return found
  }

  async function read(hash: string): Promise<Buffer> {
    const bytes = (await readSome([hash])).get(hash)
    if (!bytes) throw new Lost(hash)
    return bytes
  }

  /** The hashes whose bytes cannot be read. Only a few are read at a time, to limit the memory. */
  async function missing(hashes: readonly string[]): Promise<Set<string>> {
    const all = [...new Set(hashes)]
    const lost = new Set<string>()
    for (let at = 0; at < all.length; at += atOnce) {
      const some = all.slice(at, at + atOnce)
      const found = await readSome(some)
      for (const hash of some) if (!found.has(hash)) lost.add(hash)
    }
    return lost
  }

  /** Reads an object that is not in a pack. A broken one is removed, so that a copy elsewhere is used, or the bytes can be
   * stored again. */
  function readLoose(hash: string): Buffer | undefined {
    if (!/^[0-9a-f]{40,64}$/.test(hash)) return undefined
    try {
      const whole = inflateSync(readFileSync(fileOf(hash)))
      const bytes = whole.subarray(whole.indexOf(0) + 1)
      if (hashOf(bytes) === hash) return bytes
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined
    }
    rmSync(fileOf(hash), { force: true })
    return undefined
  }

  async function readPacked(hashes: string[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    ensure()
    try {
      const input = `${hashes.join("\n")}\n`
      const output = await runGit({ gitDir, objects, args: ["cat-file", "--batch"], input })
      for (const bytes of blobsIn(output)) {
        const hash = hashOf(bytes)
        found.set(hash, bytes)
      }
    } catch {
      // Git fails for all objects if one is broken, so they are read one by one.
      if (hashes.length === 1) return found
      for (const hash of hashes) for (const [name, bytes] of await readPacked([hash])) found.set(name, bytes)
    }
    return found
  }

  function fileOf(hash: string): string {
    return join(gitDir, "objects", hash.slice(0, 2), hash.slice(2))
  }

  return Object.freeze({ gitDir, algorithm, objects, written, ensure, hashOf, put, read, readSome, missing })
}

/** Parses the output of `cat-file --batch`: a line and the bytes of each object, or only a line for a missing one. */
function* blobsIn(output: Buffer): Generator<Buffer> {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    if (end < 0) return
    const [, type, size] = output.toString("latin1", at, end).split(" ")
    at = end + 1
    if (type !== "blob") {
      if (type !== "missing" && size !== undefined) at += Number(size) + 1
      continue
    }
    yield output.subarray(at, at + Number(size))
    at += Number(size) + 1
  }
}

/** Moves an object to its place. Git may remove the new folder while it is empty; then this tries again. */
function place(aside: string, file: string): void {
  for (let tries = 1; ; tries++)
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      renameSync(aside, file)
      return
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || tries === maxTries) throw error
    }
}

/** Sets the time of an object to now, so that it is not pruned before a session's list has its hash. False if the object
 * does not exist. */
function refresh(file: string): boolean {
  const now = Date.now() / 1_000
  try {
    utimesSync(file, now, now)
    return true
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false
    throw error
  }
}

function configOf(algorithm: Algorithm): string {
  const core = ["bare = false", "filemode = true", "symlinks = true", "logallrefupdates = false"]
  const version = algorithm === "sha256" ? 1 : 0
  return [
    "[core]",
    ...[`repositoryformatversion = ${version}`, ...core, "fsmonitor = false", "hooksPath = /dev/null"],
    "autocrlf = false",
    "[gc]",
    "auto = 0",
    ...(algorithm === "sha256" ? ["[extensions]", "objectFormat = sha256"] : []),
    "",
  ].join("\n")
}
