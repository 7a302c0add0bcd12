// The text for the shell: the command, with only the additions that a call needs. A plain command stays plain, so
// that the shell can exec the program instead of waiting for it.

/** A descriptor that commands do not use. */
export const folderFd = 19

/** Words that can change the folder; evaluated or sourced text may contain them. */
const moving = /(?<![\w./-])(?:cd|pushd|popd|eval|source)(?![\w.=-])|(?:^|[;&|({\n])[^\S\n]*\.\s/

export type Wrapping = {
  /** Whether stderr must go where stdout goes. */
  joins: boolean
  /** Whether to write the final folder of the command to `folderFd`. */
  tellsFolder: boolean
}

export function mayMove(command: string): boolean {
  return moving.test(command)
}

export function wrap(command: string, { joins, tellsFolder }: Wrapping): string {
  const parts = [
    ...(joins ? ["exec 2>&1"] : []),
    ...(tellsFolder ? [`trap 'command pwd -P >/dev/fd/${folderFd} 2>/dev/null' EXIT`] : []),
  ]
  // A shell takes a command that starts with a dash for options of its own.
  if (parts.length === 0) return /^[-+]/.test(command) ? ` ${command}` : command
  return `${parts.join("; ")}; eval ${quote(command)}`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
