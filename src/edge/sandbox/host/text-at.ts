// The text of a record, as a guest gets it.
import * as Storage from "#kernel/storage/storage.ts"

/** Null if there is no record. */
export async function textAt(key: Storage.Key): Promise<string | null> {
  try {
    return JSON.stringify(await Storage.read(key))
  } catch (error) {
    if (error instanceof Storage.NotFound) return null
    throw error
  }
}
