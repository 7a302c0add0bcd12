// Copies the objects of sessions from one place to another, each checked by its hash on both sides. A copy that was
// interrupted is continued by running it again: objects that are equal are left alone.
import { createHash } from "node:crypto"
import { NamedError } from "#util/error.ts"
import { Damaged } from "./errors.ts"
import type { Objects } from "./objects.ts"

/** A session, and the project that its record is filed under. */
export type Owner = { id: string; projectId: string }

/** Where the objects of sessions are: files of this machine, or the store that servers share. */
export type Place = Readonly<{
  list(owner: Owner): Promise<string[]>
  get(owner: Owner, name: string): Promise<Buffer | undefined>
  put(owner: Owner, objects: readonly { name: string; bytes: Buffer }[]): Promise<void>
}>

/** `lost`: the source itself has no longer the bytes. */
type Copied = { objects: number; written: number; lost: number }

class Differs extends NamedError {
  constructor(name: string, { id }: Owner, reason: string) {
    super("Objects.Differs", `Object ${name} of session ${id} ${reason}`, { name, session: id })
  }
}

/** The names in the shared store are the same for all owners, so equal names are equal bytes. */
export function placeOf(objects: Objects): Place {
  return Object.freeze({
    list: ({ id }: Owner) => objects.list(id, ""),
    get: (_: Owner, name: string) =>
      objects.get(name).catch((error) => {
        if (error instanceof Damaged) return undefined
        throw error
      }),
    put: ({ id }: Owner, all: readonly { name: string; bytes: Buffer }[]) => objects.put(id, all),
  })
}

/** Refuses a target that has other bytes under the same name. What only the target has stays there. */
export async function refuseOtherObjects(
  from: Place,
  to: Place,
  owners: AsyncIterable<Owner>,
): Promise<void> {
  for await (const owner of owners) {
    const there = new Set(await to.list(owner))
    for (const name of (await from.list(owner)).filter((one) => there.has(one))) {
      const [source, target] = [await from.get(owner, name), await to.get(owner, name)]
      if (source && target && !source.equals(target))
        throw new Differs(
          name,
          owner,
          "differs in the target. To copy all the same, say --overwrite: the one of the source replaces it",
        )
    }
  }
}

export async function copyObjects(
  from: Place,
  to: Place,
  owners: AsyncIterable<Owner>,
  copied: (objects: number) => void,
): Promise<Copied> {
  const total = { objects: 0, written: 0, lost: 0 }
  for await (const owner of owners) {
    const there = new Set(await to.list(owner))
    for (const name of await from.list(owner)) {
      const bytes = await from.get(owner, name)
      if (!bytes) {
        total.lost++
        continue
      }
      const isEqual = async () => hashOf(await to.get(owner, name)) === hashOf(bytes)
      if (!there.has(name) || !(await isEqual())) {
        await to.put(owner, [{ name, bytes }])
        if (!(await isEqual())) throw new Differs(name, owner, "differs in the copy: copy again")
        total.written++
      }
      copied(++total.objects)
    }
  }
  return total
}

function hashOf(bytes: Buffer | undefined): string | undefined {
  return bytes && createHash("sha256").update(bytes).digest("hex")
}
