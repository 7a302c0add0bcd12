// Which paths are protected, by their names alone. Apart from the commands that name such paths, because a sandbox needs it
// before the rest of the program is loaded.
import * as Global from "#kernel/process/global.ts"
import type { Path } from "#util/wildcard.ts"
import { protectedForms, protectedNames, protectedPairs } from "./protected-names.ts"

const form = new RegExp(`^(?:${protectedForms})$`)

/** Whether a path is protected: writing there could change what runs. */
export function isOwnConfiguration({ segments, isAbsolute }: Path): boolean {
  const names = segments.map((segment) => segment.toLowerCase())
  const isNamed = names.some((name, i) => {
    if (protectedNames.has(name) || (name === "skills" && names[i + 2] === "scripts")) return true
    return protectedPairs.some((pair) => name === pair[0] && names[i + 1] === pair[1])
  })
  if (isNamed || form.test(names.at(-1) ?? "")) return true
  if (!isAbsolute) return false
  const path = `/${segments.join("/")}`
  return ownFolders().some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** Each protected path contains one of these names. */
export function ownNames(): string[] {
  return [
    ...protectedNames,
    ...protectedPairs.map(([, name]) => name),
    "scripts",
    ...ownFolders().flatMap((folder) => folder.split("/")),
  ]
}

export function ownFolders(): string[] {
  return [Global.config(), Global.data(), Global.state()]
}
