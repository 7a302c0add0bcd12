// The objects of sessions as files of this machine, under the names that the shared store has for them: the bytes that
// snapshots need, long outputs and images.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createStoredObjects, isHash } from "#ability/snapshot/stored-objects.ts"
import type { Owner, Place } from "#kernel/objects/copy-objects.ts"
import { errorCode } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"
import { outputFolder } from "./output-folder.ts"
import { fileOf, nameOf } from "./shared-output.ts"

/** A killed process leaves such a file behind if it was writing it. */
const temporary = /\.[0-9a-f-]{36}\.tmp$/

export function createMachineObjects(): Place {
  const snapshots = createStoredObjects()
  return Object.freeze<Place>({
    list: async (owner) => [...snapshots.list(owner), ...outputsOf(owner)],
    get: async (owner, name) => (isHash(name) ? snapshots.get(owner, name) : readOutput(owner, name)),
    async put(owner, objects) {
      await snapshots.put(
        owner,
        objects.filter(({ name }) => isHash(name)),
      )
      for (const { name, bytes } of objects) {
        const file = isHash(name) ? undefined : fileOf(owner.id, name)
        if (file) await replaceFile(file, bytes)
      }
    },
  })
}

function outputsOf({ id }: Owner): string[] {
  try {
    return readdirSync(outputFolder(id), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !temporary.test(entry.name))
      .map((entry) => nameOf(id, join(entry.parentPath, entry.name)))
      .sort()
  } catch (error) {
    if (errorCode(error) === "ENOENT") return []
    throw error
  }
}

function readOutput({ id }: Owner, name: string): Buffer | undefined {
  const file = fileOf(id, name)
  try {
    return file === undefined ? undefined : readFileSync(file)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  }
}
