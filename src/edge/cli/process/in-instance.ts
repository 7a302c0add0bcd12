// How every command that works in a folder starts and ends.
import { resolve } from "node:path"
import { bootstrap } from "#engine/host/bootstrap.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"

export type FolderOptions = { dir?: string | undefined; trust?: boolean | undefined }

export function directoryOf(options: FolderOptions): string {
  return resolve(options.dir ?? process.cwd())
}

/** Run `fn` in the instance of the chosen folder, and close everything afterwards. */
export async function inInstance<T>(options: FolderOptions, fn: () => T | Promise<T>): Promise<T> {
  const directory = directoryOf(options)
  try {
    if (options.trust) await Trust.grant(directory, { keep: false })
    return await bootstrap(directory, fn)
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}
