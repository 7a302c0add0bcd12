// The session that a command is about: by its id, by a prefix of it that no other session has, or the newest one of this
// work tree when none is named.

import { UsageError } from "#edge/cli/process/exit.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { ownCommand } from "#util/own-command.ts"
import { shorten } from "#util/plain-text.ts"

const maxNamed = 5

export async function findSession(name?: string): Promise<Session.Info> {
  if (name === undefined || name === "") return newestSession()
  const sessions = await Session.list({ tasks: true })
  const exact = sessions.find(({ id }) => id === name)
  if (exact) return exact
  const found = sessions.filter(({ id }) => id.startsWith(name) || id.startsWith(`sess_${name}`))
  if (found.length === 1) return found[0]!
  // Lists shorten ids, and leave out tasks, which begin in the same seconds.
  const shown = found.filter(({ taskOf }) => !taskOf)
  if (shown.length === 1) return shown[0]!
  // An id of another project is found by its full name only.
  if (found.length === 0) return Session.get(name)
  const named = found.slice(0, maxNamed).map(({ id, title }) => `${id} (${shorten(title, 40)})`)
  const more = found.length > maxNamed ? `, and ${found.length - maxNamed} more` : ""
  throw new UsageError(
    `"${name}" fits ${found.length} sessions: ${named.join(", ")}${more}. Name one of them.`,
  )
}

/** The session that was used last in this work tree. Another clone of the same project has sessions of its own. */
export async function newestSession(): Promise<Session.Info> {
  const sessions = await Session.list()
  const newest = sessions.find(({ directory }) => isInside(Instance.worktree, directory))
  if (newest) return newest
  const elsewhere = sessions.length
    ? ` "${ownCommand} session list" shows ${countOf(sessions.length, "session")} of other folders of this project.`
    : ""
  throw new UsageError(`There is no session in this folder yet.${elsewhere}`)
}
