// Loads an adapter from a file: its default export. The file must be reviewed, with all that it imports from its work tree,
// as a TypeScript configuration must; only files in the person's own configuration folder need no review.
import { realpathSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type { AgentAdapter } from "#engine/host/agent-adapter.ts"
import { importModule } from "#kernel/config/typescript.ts"
import * as Global from "#kernel/process/global.ts"
import { Unreviewed } from "#kernel/reviewed/guard-imports.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { errorText, NamedError } from "#util/error.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { ownCommand } from "#util/own-command.ts"
import { quoteWord } from "#util/quote-word.ts"

class NotLoaded extends NamedError {
  constructor(file: string, reason: string, options?: ErrorOptions) {
    super("Adapter.NotLoaded", `The adapter ${file} cannot be used: ${reason}`, { file }, options)
  }
}

/** `directory`: where a relative path starts. `trust`: accept the file as it is, for this process, if it belongs to the
 * work tree of that folder. */
export async function loadAdapter(
  path: string,
  { directory, trust = false }: { directory: string; trust?: boolean | undefined },
): Promise<AgentAdapter> {
  const file = realFile(resolve(directory, path))
  const bytes = await readSmallFile(file).catch((error) => {
    throw new NotLoaded(file, errorText(error))
  })
  if (!bytes) throw new NotLoaded(file, "the file does not exist")
  if (trust && isInside(Trust.rootOf(directory), file))
    await Trust.grant(directory, { keep: false, also: [file] })
  const reviewed = isInside(Global.config(), file) ? undefined : await Reviewed.of(dirname(file))
  const refusal = reviewed?.refusal(file, bytes)
  if (refusal) throw new NotLoaded(file, `it is not reviewed. ${howToReview(file)}`)
  const { default: adapter } = await importModule(file, bytes, { reviewed }).catch((error) => {
    const hint = error instanceof Unreviewed ? `. ${howToReview(file)}` : ""
    throw new NotLoaded(file, `${errorText(error)}${hint}`, { cause: error })
  })
  return checked(adapter, file)
}

function realFile(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    // Reading it says what is wrong.
    return file
  }
}

function howToReview(file: string): string {
  return `Review it with: ${ownCommand} trust ${quoteWord(dirname(file))} --file ${quoteWord(file)}`
}

function checked(value: unknown, file: string): AgentAdapter {
  if (value === undefined)
    throw new NotLoaded(file, "it has no default export; write: export default { name, wrap }")
  const { name, wrap } = (value ?? {}) as Partial<AgentAdapter>
  if (typeof name !== "string" || name.trim() === "")
    throw new NotLoaded(file, "its default export has no name")
  if (typeof wrap !== "function")
    throw new NotLoaded(file, `its default export, ${JSON.stringify(name)}, has no function wrap`)
  return value as AgentAdapter
}
