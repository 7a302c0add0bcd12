// Finds programs on PATH. Relative entries are ignored: they would let the project's folder provide the program.
import { existsSync } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"
import * as Env from "./env.ts"

/** The first of these programs, in a folder that is accepted. */
export function findProgram(names: string[], accepts = (_folder: string) => true): string | undefined {
  const folders = (Env.get("PATH") ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && accepts(folder))
  for (const name of names)
    for (const folder of folders) if (existsSync(join(folder, name))) return join(folder, name)
  return undefined
}
