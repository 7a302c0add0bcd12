// The shell parser, which is a seventh of the code that a run would load. Many runs judge no command, so it is loaded with
// the first one: synchronously, because judging is synchronous. `script/build.ts` builds `dist/unbash.js`.
import { createRequire } from "node:module"
import type * as Unbash from "unbash"

let loaded: typeof Unbash | undefined

export const parse: typeof Unbash.parse = (...args) => unbash().parse(...args)

export const forEachChild: typeof Unbash.forEachChild = (...args) => unbash().forEachChild(...args)

function unbash(): typeof Unbash {
  const here = import.meta.url
  loaded ??= createRequire(here)(here.endsWith(".ts") ? "unbash" : "./unbash.js")
  return loaded!
}
