// The bytes that the snapshots of sessions need, in the stores of this machine. `vitamin storage copy` reads and writes
// them without an instance, for all projects.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorCode } from "#util/error.ts"
import { type Algorithm, createObjectStore, type ObjectStore } from "./store/object-store.ts"
import { addHashes } from "./store/session-log.ts"

type Owner = { id: string; projectId: string }

const hashForm = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** Whether a name in the shared store is the hash of bytes for snapshots. */
export function isHash(name: string): boolean {
  return hashForm.test(name)
}

export function createStoredObjects() {
  const stores = new Map<string, ObjectStore[]>()

  /** The store of a project, once for each of its repositories, whose own objects are read too. */
  async function storesOf(projectId: string, hash: string): Promise<ObjectStore[]> {
    const algorithm: Algorithm = hash.length === 40 ? "sha1" : "sha256"
    const key = `${projectId} ${algorithm}`
    const known = stores.get(key)
    if (known) return known
    const gitDir = join(folderOf(projectId), algorithm === "sha1" ? "git" : "git-sha256")
    const repositories = await repositoriesOf(projectId)
    const made = [...repositories.map((path) => join(path, "objects")), undefined].map((objects) =>
      createObjectStore({ gitDir, algorithm, objects, onMade() {}, fetch: async () => undefined }),
    )
    stores.set(key, made)
    return made
  }

  async function get({ projectId }: Owner, hash: string): Promise<Buffer | undefined> {
    for (const store of await storesOf(projectId, hash)) {
      const bytes = (await store.readSome([hash])).get(hash)
      if (bytes) return bytes
    }
    return undefined
  }

  /** The bytes first: a session's list never has a hash whose bytes were not stored. */
  async function put({ id, projectId }: Owner, objects: readonly { name: string; bytes: Buffer }[]) {
    for (const { name, bytes } of objects) (await storesOf(projectId, name))[0]!.put(bytes)
    const log = { folder: folderOf(projectId), named: new Map(), unsent: new Map() }
    addHashes(
      log,
      id,
      objects.map(({ name }) => name),
    )
  }

  return Object.freeze({ list: hashesOf, get, put })
}

function hashesOf({ id, projectId }: Owner): string[] {
  try {
    const lines = readFileSync(join(folderOf(projectId), "session", id), "utf8").split("\n")
    return [...new Set(lines.filter(isHash))]
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw error
  }
}

/** The folders of git that were seen for a project on this machine. */
async function repositoriesOf(projectId: string): Promise<string[]> {
  const found: string[] = []
  await Storage.readAll<{ id?: string; gitDir?: string }>(["space"], ({ id, gitDir }) => {
    if (id === projectId && gitDir) found.push(gitDir)
  })
  return found
}

function folderOf(projectId: string): string {
  return join(Global.data(), "snapshot", projectId)
}
