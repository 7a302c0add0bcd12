// A project folder with an Instance around the test, and agents in files.
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** Run `fn` in the Instance of a new folder that has these files. */
export async function inProject(
  fn: (tmp: Tmp) => Promise<unknown>,
  options: { files?: Record<string, string>; prepare?: (tmp: Tmp) => unknown } = {},
): Promise<void> {
  await using tmp = await tmpdir()
  Log.setFile(`${tmp.path}/../log`)
  for (const [name, content] of Object.entries(options.files ?? {})) tmp.write(name, content)
  try {
    await options.prepare?.(tmp)
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    Log.setFile(undefined)
  }
}
