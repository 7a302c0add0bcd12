// How a command that works in a folder starts and ends, and what signals do that ask it to stop.
import { resolve } from "node:path"
import { bootstrap } from "#engine/host/bootstrap.ts"
import { Instance } from "#kernel/instance.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Env from "#kernel/process/env.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { exitCodes } from "./exit.ts"

export type FolderOptions = { dir?: string | undefined; trust?: boolean | undefined }
/** `database`: where records are kept, instead of files; default: VITAMIN_DATABASE. */
export type StoreOptions = { database?: string | undefined }

const signals = {
  SIGINT: exitCodes.interrupted,
  SIGHUP: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
} as const
/** A terminal signals the whole process group and a launcher forwards the signal, so two signals at nearly the same time
 * count as one. */
const sameTime = 500

export function directoryOf(options: FolderOptions): string {
  return resolve(options.dir ?? process.cwd())
}

/** Run `fn` in the instance of the chosen folder, and close everything afterwards. */
export async function inInstance<T>(
  options: FolderOptions & StoreOptions,
  fn: () => T | Promise<T>,
): Promise<T> {
  const directory = directoryOf(options)
  try {
    await openStore(options)
    if (options.trust) await Trust.grant(directory, { keep: false })
    return await bootstrap(directory, fn)
  } finally {
    await Instance.disposeAll()
    await Objects.close()
    await Storage.close()
  }
}

/** Keeps records in the database that is named, if there is one. */
async function openStore({ database = Env.get("VITAMIN_DATABASE") }: StoreOptions): Promise<void> {
  if (!database) return
  const { useDatabase } = await import("#kernel/storage/use-database.ts")
  await useDatabase(database, Objects.checkBucket)
}

/** Call `stop` at the first signal, with the exit code that belongs to it; a later one ends the program at once. Returns
 * a function that removes the listeners. */
export function onSignal(stop: (exitCode: number) => void): () => void {
  let first: number | undefined
  const listeners = Object.entries(signals).map(([signal, exitCode]) => {
    const listener = () => {
      if (first === undefined) {
        first = performance.now()
        stop(exitCode)
      } else if (performance.now() - first > sameTime) process.exit(exitCode)
    }
    process.on(signal, listener)
    return [signal, listener] as const
  })
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
}
