// Finds axe-core, which checks accessibility and is not installed with the program. The one place that looks for it.
import { createRequire } from "node:module"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import { quoteWord } from "#util/quote-word.ts"

const name = "axe-core"
/** The range of `peerDependencies` in package.json allows it. */
const version = "4.14.0"

/** Installed beside this program, or in the data folder with the browser library. `todo`: the command that adds it. */
export function findAxe(): { path?: string; todo: string } {
  const folder = join(Global.data(), "browser")
  const todo = `npm install --prefix ${quoteWord(folder)} ${name}@${version}`
  for (const from of [import.meta.url, join(folder, "package.json")])
    try {
      return { path: createRequire(from).resolve(`${name}/axe.min.js`), todo }
    } catch {
      // Not here.
    }
  return { todo }
}
