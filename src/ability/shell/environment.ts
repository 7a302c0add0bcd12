// The environment of a command: the person's, without our secrets and other credentials, and with settings that keep
// programs from asking, paging, drawing colours or opening an editor. CI is not set: it changes what package managers
// install.
import * as Env from "#kernel/process/env.ts"

/** Contains the ids of the calls that started a process, outermost first, so that daemons can be found again. */
export const markName = "VITAMIN_CALL"

const quiet = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  // Output must appear when it is printed, and in order.
  PYTHONUNBUFFERED: "1",
}
const forcing = ["FORCE_COLOR", "CLICOLOR_FORCE"]

/** `pass`: variables that the person lets commands have although their names look like credentials. */
export function environmentFor(mark: string, pass: readonly string[]): Record<string, string> {
  const env = { ...Env.forCommand(pass), ...quiet }
  for (const name of forcing) delete (env as Record<string, string>)[name]
  const outer = Env.get(markName)
  return { ...env, [markName]: outer ? `${outer}/${mark}` : mark }
}
