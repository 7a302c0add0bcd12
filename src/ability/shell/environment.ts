// The environment of a command: the person's, without our secrets and without variables that look like credentials, and
// with settings that keep programs from asking, paging, drawing colours or opening an editor. CI is not set: it changes
// what package managers install.

import type { Context } from "#ability/call/types.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"

/** The variable with the ids of the calls that started a process, outermost first. It identifies daemons that a call
 * left. */
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

const maxNamed = 20
const told = Instance.state(() => new Set<string>())

/** `pass`: variables that commands get although their names look like credentials. */
export function environmentFor(mark: string, pass: readonly string[]): Record<string, string> {
  const env = { ...Env.forCommand(pass), ...quiet }
  for (const name of forcing) delete (env as Record<string, string>)[name]
  return { ...env, ...markedBy(mark) }
}

/** The variable with the mark, after the marks of the calls that started this process. */
export function markedBy(mark: string): Record<string, string> {
  const outer = Env.get(markName)
  return { [markName]: outer ? `${outer}/${mark}` : mark }
}

/** Calls around a process, beyond which a command or a hook seems to run vitamin again and again. */
const maxCalls = 20

/** True if too many commands or hooks of vitamin, each started by the one before, stand above this process. */
export function isNestedTooDeep(): boolean {
  return (Env.get(markName)?.split("/").length ?? 0) > maxCalls
}

/** The same for a program that the person's editor starts, which adds these variables to its own. They cannot be removed
 * there, so those that commands must not have become empty. Only variables that this process has too are known. */
export async function editorEnvironment(mark: string): Promise<Record<string, string>> {
  const given = environmentFor(mark, await passedVariables())
  const withheld = Object.keys(Env.all()).filter((name) => !(name in given))
  const added = [...Object.keys(quiet), markName].map((name) => [name, given[name]!])
  return Object.fromEntries([...withheld.map((name) => [name, ""]), ...added])
}

/** Variables that commands get although their names look like credentials: `environment.pass` of the configuration. */
export async function passedVariables(): Promise<readonly string[]> {
  return Instance.isProvided ? ((await Config.get()).environment?.pass ?? []) : []
}

/** The secrets of the project, if this process has their key. */
export async function secretVariables(): Promise<Record<string, string>> {
  const hasKey = Env.get("VITAMIN_SECRET_KEY") ?? Env.get("VITAMIN_SECRET_KEY_FILE")
  if (!Instance.isProvided || !hasKey) return {}
  return (await import("./project-secrets.ts")).variablesOf(Instance.project.id)
}

/** Reports the withheld variables with the first command of a session, because a program without its token rarely says why
 * it fails. Undefined for later commands. */
export async function reportWithheld({ sessionId, notice }: Context): Promise<string | undefined> {
  if (told().has(sessionId)) return undefined
  told().add(sessionId)
  const lost = Env.lostByName(await passedVariables())
  if (lost.length === 0) return undefined
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ""
  const names = lost.slice(0, maxNamed)
  const text = `commands do not get ${names.join(", ")}${more}: their names look like credentials. environment.pass: ${JSON.stringify(names)} in the configuration passes them on`
  notice?.(text)
  return text
}
