// Which variables commands do not get because their names look like credentials. It is reported once per session, to
// the person and the model, because a program without its token rarely says why it fails.

import type { Context } from "#ability/call/types.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"

const maxNamed = 20
const told = Instance.state(() => new Set<string>())

/** Variables that commands get although their names look like credentials: `environment.pass` of the configuration. */
export async function passedVariables(): Promise<readonly string[]> {
  return Instance.isProvided ? ((await Config.get()).environment?.pass ?? []) : []
}

/** The report for the first command of a session that loses a variable; later undefined. */
export async function reportWithheld({ sessionId, notice }: Context): Promise<string | undefined> {
  if (told().has(sessionId)) return undefined
  const lost = Env.lostByName(await passedVariables())
  if (lost.length === 0) return undefined
  told().add(sessionId)
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : ""
  const names = lost.slice(0, maxNamed)
  const text = `commands do not get ${names.join(", ")}${more}: named like credentials. In the configuration, environment.pass: ${JSON.stringify(names)} lets them have those`
  notice?.(text)
  return text
}
