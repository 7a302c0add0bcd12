// The text that the shell is given: the command as it is, and around it only what a call needs. A plain command stays
// plain, so that the shell can turn into the program that it is to run instead of waiting for it.

/** A descriptor that commands do not use. */
export const folderFd = 19

/** Words that can lead to another folder; what is evaluated or sourced may hold them. */
const moving = /(?<![\w./-])(?:cd|pushd|popd|eval|source)(?![\w.=-])|(?:^|[;&|({\n])[^\S\n]*\.\s/

export type Wrapping = {
  /** Whether stderr must be sent where stdout goes. */
  joins: boolean
  /** Whether the folder that the command ends in is written to `folderFd`. */
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
