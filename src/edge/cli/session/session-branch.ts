// `vitamin session branch`: lists the branches of a session, creates one, or switches to one.

import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Session from "#engine/session/session.ts"
import * as Log from "#kernel/process/log.ts"
import { ownCommand } from "#util/own-command.ts"
import { findSession } from "./find-session.ts"
import { shortId } from "./session-lines.ts"

export async function branchSession(
  options: FolderOptions & {
    id?: string | undefined
    name?: string | undefined
    from?: string | undefined
    format: "text" | "json"
  },
): Promise<void> {
  const { from, format } = options
  const { session: named, name } = readWords(options)
  if (name === undefined && from !== undefined)
    throw new UsageError(
      `--from is for a new branch, which needs a name: ${ownCommand} session branch ID NAME --from …`,
    )
  await inInstance(options, async () => {
    const { id } = await findSession(named)
    if (name !== undefined) {
      const session = await Session.branch(id, name, { from })
      if (format === "json") return print(JSON.stringify(session, null, 2))
      return print(
        process.stdout.isTTY
          ? `The branch of ${shortId(id)} is now ${session.branch}.`
          : `${id}: ${session.branch}`,
      )
    }
    const branches = await Session.branches(id)
    if (format === "json") return print(JSON.stringify(branches, null, 2))
    const width = Math.max(...branches.map((branch) => branch.name.length))
    for (const branch of branches) print(wrapList(Log.escapeControls(lineOf(branch, width)), width + 4))
  })
}

/** `session branch NAME` means the newest session: a single word that does not look like an id is the branch. */
function readWords({ id, name }: { id?: string | undefined; name?: string | undefined }) {
  if (name !== undefined || id === undefined || id.startsWith("sess_")) return { session: id, name }
  return { session: undefined, name: id }
}

function lineOf({ name, active, count, tip, from }: Session.Branch, width: number): string {
  const origin = from ? `  made at ${from.messageId} of ${from.branch}` : ""
  return `${active ? "*" : " "} ${name.padEnd(width)}  ${count} messages${tip ? `, the last ${tip}` : ""}${origin}`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
