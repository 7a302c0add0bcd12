// `vitamin trust`: let a folder bring code and settings that decide what runs, or take that back.
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust.ts"
import { directoryOf, type FolderOptions } from "./in-instance.ts"

type Options = FolderOptions & {
  folder?: string | undefined
  remove?: boolean | undefined
  list?: boolean | undefined
}

export async function trust(options: Options): Promise<void> {
  try {
    process.stdout.write(await change(options))
  } finally {
    await Storage.close()
  }
}

async function change(options: Options): Promise<string> {
  if (options.list) return (await Trust.list()).map((grant) => `${grant.directory}\n`).join("")
  const directory = directoryOf({ dir: options.folder ?? options.dir })
  if (options.remove) return `No longer trusted: ${await Trust.remove(directory)}\n`
  return `Trusted: ${await Trust.grant(directory)}\n`
}
