// Warns about ignored parts of agent files. A folder with many unreviewed files gets one line for all.
import { dirname, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Ignored } from "./read-agent-file.ts"

/** So many are named one by one. */
const maxNamed = 3

/** `said`: what was logged before, because a server reads the folders again and again. `untrusted`: in untrusted
 * folders. */
export function reportIgnored(found: { trusted: Ignored[]; untrusted: Ignored[] }, said: Set<string>): void {
  const { trusted, untrusted } = found
  const isMany = untrusted.length > maxNamed
  const once = (text: string, fields: Log.Fields, log = Log.warn) => {
    const key = JSON.stringify([text, fields])
    if (!said.has(key)) log(text, fields)
    said.add(key)
  }
  for (const { file, key, reason } of trusted) once(`${key} is ignored: ${reason}`, { file })
  for (const { file, key, reason } of untrusted)
    once(`${key} is ignored: ${reason}`, { file }, isMany ? Log.info : Log.warn)
  if (!isMany) return
  const files = new Set(untrusted.map(({ file }) => file))
  const folders = new Set([...files].map((file) => relative(Instance.worktree, dirname(file))))
  once(
    `${untrusted.length} settings in ${files.size === 1 ? "an agent file" : `${files.size} agent files`} are ignored: the folder is not trusted; "${ownCommand} trust" reviews the files, VITAMIN_LOG=info lists the settings`,
    { folders: [...folders].join(", ") },
  )
}
