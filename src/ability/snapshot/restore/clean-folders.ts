// Removes the temporary files that killed processes left beside the files that they were replacing.
import { closeSync } from "node:fs"
import { dirname } from "node:path"
import type { Pending } from "#ability/snapshot/store/session-log.ts"
import type { Shadow } from "#ability/snapshot/store/shadow.ts"
import { removeLeftovers } from "#util/file/write-file.ts"
import { openFolder, within } from "./open-folder.ts"

/** In the folders that a call of `write` or `edit` was about to change. */
export function cleanFolders({ root }: Shadow, { part, base }: Pending): void {
  if (base) return
  for (const { path } of part.files) {
    const folder = openFolder(root, dirname(path), false)
    if (!folder) continue
    try {
      removeLeftovers(within(folder, ""))
    } finally {
      closeSync(folder.fd)
    }
  }
}
