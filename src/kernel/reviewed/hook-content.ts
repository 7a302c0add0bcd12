// The part of a file that defines hooks. Settings of other agents have much beside hooks that changes often, so only their
// hooks are reviewed, and only these are used.
import { isPlain } from "#kernel/schema/check.ts"
import { JsoncError, parseJsonc } from "#util/parse/jsonc.ts"

/** The bytes that are reviewed: the whole file, or of the settings of another agent their hooks. Undefined if such settings
 * have none. */
export function reviewedBytes(path: string, bytes: Buffer): Buffer | undefined {
  if (!isSettings(path)) return bytes
  try {
    const { hooks } = parseJsonc(bytes, path).value
    return hooks === undefined ? undefined : Buffer.from(`${JSON.stringify({ hooks }, null, 2)}\n`)
  } catch (error) {
    // Without hooks that can be read, nothing of it is used.
    if (error instanceof JsoncError) return undefined
    throw error
  }
}

function isSettings(path: string): boolean {
  return /\/\.claude\/settings(\.local)?\.json$/.test(path)
}

/** The commands of a file of hooks, one a line, with the paths that variables for the project's folder stand for. */
export function hookCommands(bytes: Uint8Array, path: string, root: string): string {
  try {
    const found: string[] = []
    collect(parseJsonc(bytes, path).value.hooks, found)
    return found.map((line) => withRoot(line, root)).join("\n")
  } catch (error) {
    if (error instanceof JsoncError) return ""
    throw error
  }
}

/** `"$CLAUDE_PROJECT_DIR"/check.sh` names a file of the project. */
export function withRoot(command: string, root: string): string {
  return command.replaceAll(
    /"?\$\{?(?:CLAUDE|VITAMIN|CODEX)_PROJECT_DIR(?::-[^}]*)?\}?"?\/?/g,
    () => `${root}/`,
  )
}

function collect(value: unknown, found: string[]): void {
  if (Array.isArray(value)) for (const one of value) collect(one, found)
  else if (isPlain(value)) {
    const { command, args, ...rest } = value
    for (const word of [command, args].flat()) if (typeof word === "string") found.push(word)
    for (const one of Object.values(rest)) collect(one, found)
  }
}
