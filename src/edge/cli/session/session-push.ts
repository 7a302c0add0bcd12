// `vitamin session push`: what a session made, as a branch of its project's repository or as a patch.
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import * as Session from "#engine/session/session.ts"
import { findSession } from "./find-session.ts"

type Options = FolderOptions & {
  id: string
  branch?: string | undefined
  patch?: string | undefined
  defaultBranch?: boolean | undefined
}

export async function pushSession(options: Options): Promise<void> {
  const { branch, patch, defaultBranch } = options
  if (patch !== undefined && branch !== undefined)
    throw new UsageError("--patch writes a file and --branch pushes: name one of them.")
  await inInstance(options, async () => {
    const { id } = await findSession(options.id)
    const pushed = await Session.push(id, {
      branch,
      isDefaultAllowed: defaultBranch,
      patch: patch !== undefined,
    })
    if (pushed.patch === undefined) print(`Pushed ${pushed.commit} to the branch ${pushed.branch}.\n`)
    else if (patch === "-") print(pushed.patch)
    else writeFileSync(resolve(directoryOf(options), patch!), pushed.patch)
  })
}

function print(text: string): void {
  process.stdout.write(text)
}
