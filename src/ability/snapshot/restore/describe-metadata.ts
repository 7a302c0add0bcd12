// What changed beside the bytes of files, which git's diff does not show: modes, folders, hard links, named pipes. One line
// each, in a form that `git apply` passes over.

import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { differingLinks } from "./apply-links.ts"
import { emptyFolders, type Plan } from "./plan.ts"

export function describeMetadata(shadow: Shadow, plan: Plan): string {
  const lines = [
    ...plan.actions.flatMap(({ path, from, to }) => {
      if (from?.kind === "other" && !to)
        return [`${from.stamp?.split(" ").slice(0, -1).join(" ")} made: ${path}`]
      if (from?.kind !== "file" || to?.kind !== "file" || to.exact === false || from.mode === to.mode)
        return []
      return [`mode changed: ${path} (${octal(to.mode)} to ${octal(from.mode)})`]
    }),
    ...plan.folderActions.map(({ path, from, to }) =>
      from === null ? `folder removed: ${path}/` : `mode changed: ${path}/ (${octal(to)} to ${octal(from)})`,
    ),
    ...emptyFolders(shadow, plan).map((path) => `folder made: ${path}/`),
    ...differingLinks(shadow, plan.links).map(
      ({ paths, before }) => `hard link ${before === "linked" ? "broken" : "made"}: ${paths.join(", ")}`,
    ),
  ]
  return lines.map((line) => `${line.replaceAll(/\p{Cc}/gu, "?")}\n`).join("")
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0")
}
