// The entry file of this folder. Runs the formatter of a file that the agent has changed. It changes the file in place; a
// formatter that fails or takes too long must leave the file as it was edited, which the caller ensures.
import type { Context } from "#ability/call/types.ts"
import { startGuarded } from "#ability/shell/guarded-process.ts"
import { tellUntrusted } from "#ability/shell/project-tools.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { orAborted, waitAtMost } from "#util/wait.ts"
import { type Formatter, findFormatter } from "./find-formatter.ts"

/** `failure`: why the file is not formatted. */
export type Formatted = { failure?: string }

const timeLimit = 10_000
const maxSaid = 300

/** The texts that each session was told already. */
const told = Instance.state(() => new Set<string>())

/** Formats a file on disk. Undefined if it has no formatter. */
export async function format(path: string, context: Context): Promise<Formatted | undefined> {
  if (!isInside(Instance.worktree, path)) return undefined
  const formatter = await findFormatter(path)
  if (!formatter) return undefined
  if (!(await Reviewed.of(Instance.directory)).isTrusted) {
    tellUntrusted(context)
    return undefined
  }
  const problem = await run(formatter, path, context.signal)
  if (problem === undefined) return {}
  const failure = `the formatter "${formatter.id}" failed: ${problem}; the file is as you edited it`
  return { failure: once(failure, context) ? failure : "not formatted" }
}

async function run(
  { command, env, cwd }: Formatter,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const child = startGuarded({
    command: command.map((word) => word.replaceAll("$FILE", () => path)),
    env: { ...Env.forCommand([]), NO_COLOR: "1", ...env },
    cwd,
  })
  let said = ""
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-4_000)
  }
  child.stdin.on("error", () => {})
  child.stdin.end()
  child.stdout.on("data", keep)
  child.stderr.on("data", keep)
  try {
    await orAborted(waitAtMost(timeLimit, child.exited), signal)
    const exit = await Promise.race([child.exited, undefined])
    if (!exit) return `it took longer than ${timeLimit / 1_000} s`
    if (exit.error) return exit.error.message
    if (exit.code !== 0) return lastLine(said) || `exit code ${exit.code ?? exit.signal}`
    return statOf(path)?.isFile() ? undefined : "it removed the file"
  } finally {
    child.kill()
    await child.end()
  }
}

function lastLine(said: string): string {
  const lines = said.split("\n").filter((line) => line.trim())
  return Log.escapeControls(Secret.redact(lines.at(-1)?.trim() ?? "")).slice(0, maxSaid)
}

/** Tells the person, the first time in a session. Returns whether it was. */
function once(text: string, { sessionId, notice }: Context): boolean {
  const key = `${sessionId} ${text}`
  if (told().has(key)) return false
  told().add(key)
  notice?.(text)
  return true
}
