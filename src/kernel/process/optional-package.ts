// Packages that are not installed with the program, because they are large and few people need them.
import { createRequire } from "node:module"
import { join } from "node:path"
import { quoteWord } from "#util/quote-word.ts"
import * as Global from "./global.ts"

/** `folder`: where `installCommand` installs it, in the data folder. */
export type Info = { name: string; version: string; folder: string }

/** Its main file: installed beside this program, or by `installCommand`. Nothing is loaded. */
export function find({ name, folder }: Info): string | undefined {
  for (const from of [import.meta.url, join(Global.data(), folder, "package.json")])
    try {
      return createRequire(from).resolve(name)
    } catch {
      // Not here.
    }
  return undefined
}

export function installCommand({ name, version, folder }: Info): string {
  return `npm install --prefix ${quoteWord(join(Global.data(), folder))} ${name}@${version}`
}
