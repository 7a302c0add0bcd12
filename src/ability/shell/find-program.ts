// Finds a program by PATH. Relative entries are ignored: they would let the project's folder provide the program.
import { existsSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import * as Env from "#kernel/process/env.ts"

/** The first of the names that is found. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (Env.get("PATH") ?? "").split(delimiter).filter(isAbsolute)
  for (const name of names)
    for (const folder of folders) if (existsSync(join(folder, name))) return join(folder, name)
  return undefined
}
