// Collects what a function writes to the log.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Log from "#kernel/process/log.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

/** Runs a function, and returns the lines that it wrote to the log. */
export async function logged(fn: () => unknown): Promise<string> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  try {
    await fn()
  } finally {
    Log.setFile(undefined)
  }
  return readFileSync(file, { encoding: "utf8", flag: "a+" })
}
