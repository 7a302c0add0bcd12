// Ordered changes of the store's layout. Each runs once; what was done is recorded after each, so that a run that was
// cut short goes on where it stopped.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { NotFound } from "./errors.ts"
import { createLock } from "./lock.ts"
import type { Store } from "./store.ts"

export type Migration = { version: number; name: string; run: () => Promise<void> }

const key = ["meta", "version"]

/** Nothing has changed its layout yet. */
export const migrations: Migration[] = []

/** Run what is pending, in order of version, one process at a time. Gives the version that the store is at. */
export async function runMigrations(store: Store, root: string, migrations: Migration[]): Promise<number> {
  const pending = (done: number) =>
    migrations.filter(({ version }) => version > done).sort((a, b) => a.version - b.version)
  if (!pending(await recorded(store)).length) return recorded(store)
  mkdirSync(join(root, "journal"), { recursive: true, mode: 0o700 })
  const lock = await createLock(join(root, "journal", "migrate"))
  await lock.acquire()
  try {
    for (const { version, name, run } of pending(await recorded(store))) {
      Log.info("migrating the store", { version, name })
      await run()
      await store.write(key, { version })
    }
  } finally {
    lock.release()
    lock.close()
  }
  return recorded(store)
}

async function recorded(store: Store): Promise<number> {
  try {
    return (await store.read<{ version: number }>(key)).version
  } catch (error) {
    if (error instanceof NotFound) return 0
    throw error
  }
}
