// Whether the command of a hook would run a file of the project or of a plugin that is not as it was reviewed. Checked before
// each run: a call may have changed the file since the last one.
import { basename, join, relative } from "node:path"
import { Instance } from "#kernel/instance.ts"
import { installed } from "#kernel/plugin/plugins.ts"
import { withRoot } from "#kernel/reviewed/hook-content.ts"
import { maxProgram } from "#kernel/reviewed/places.ts"
import { missingImports, namedByText, withImports } from "#kernel/reviewed/project-code.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { errorText } from "#util/error.ts"
import { isAbsent, realOf } from "#util/file/path-info.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Command } from "./hook.ts"

/** Why it must not run. `wasReviewed`: an earlier content was reviewed, so the hook still counts. */
type Unreviewed = { reason: string; wasReviewed: boolean }

const pluginVariable = /"?\$\{?(?:CLAUDE_)?PLUGIN_ROOT\}?"?\/?/g

/** Undefined if all of them are as they were reviewed, and for hooks of the person. */
export async function unreviewedFile(work: Command): Promise<Unreviewed | undefined> {
  const { command, args = [], pluginRoot, isProjects } = work
  if (!isProjects && pluginRoot === undefined) return undefined
  const reviewed = isProjects ? await Reviewed.of(Instance.worktree) : ofPlugin(pluginRoot!)
  if (!reviewed) return { reason: "its plugin was removed", wasReviewed: true }
  const { root } = reviewed
  const line = [command, ...args].join("\n")
  const text = isProjects ? withRoot(line, root) : line.replaceAll(pluginVariable, () => `${root}/`)
  const starts = isProjects ? [...new Set([Instance.directory, root])] : [root]
  // The files that a text names are real paths, and those of a review are not.
  const real = realOf(root) ?? root
  const named = namedByText(text, starts, real).files.flatMap((one) => withImports(one, real))
  const known = reviewed.paths()
  const inRoot = (path: string) => join(root, relative(real, path))
  // A file that was removed would end the script with an error, which blocks nothing.
  const missing = new Set(named.flatMap((one) => missingImports(one, real)).map(inRoot))
  const gone = known.filter((path) => missing.has(path) || (text.includes(basename(path)) && isAbsent(path)))
  for (const file of new Set([...gone, ...named.map(inRoot)])) {
    const why = await refusalOf(file, reviewed)
    if (!why) continue
    const name = relative(root, file)
    const remedy = isProjects ? `${ownCommand} trust --file ${name}` : `${ownCommand} plugin update`
    return { reason: `it runs ${name}: ${why} (${remedy})`, wasReviewed: known.includes(file) }
  }
  return undefined
}

function ofPlugin(root: string): Reviewed.Reviewed | undefined {
  return installed().find((plugin) => plugin.root === root)?.reviewed
}

/** A file that cannot be read, or is too large by now, is not the one that was reviewed. */
async function refusalOf(file: string, reviewed: Reviewed.Reviewed): Promise<string | undefined> {
  try {
    const bytes = await readSmallFile(file, undefined, maxProgram)
    return bytes ? reviewed.refusal(file, bytes) : "it was removed since it was reviewed"
  } catch (error) {
    return errorText(error)
  }
}
