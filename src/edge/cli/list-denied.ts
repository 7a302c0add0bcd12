// What was denied in a run because nobody could be asked, in one line at its end, with an exit code of its own.
import * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus.ts"
import * as Log from "#kernel/log.ts"
import { exitCodes } from "./exit.ts"

const maxNamed = 3

export function listDenied(): { tell(): void; stop(): void } {
  const lines = new Set<string>()
  const stop = Bus.subscribe(Permission.Denied, ({ needs, protected: isProtected }) => {
    const judged = needs.map((need) => ({ ...need, ...(isProtected ? { protected: true as const } : {}) }))
    lines.add(`${needs.map(Permission.sayNeed).join(" and ")} (${Permission.flagsFor(judged)})`)
  })
  function tell(): void {
    if (!lines.size) return
    const more = lines.size > maxNamed ? `, and ${lines.size - maxNamed} more` : ""
    const named = [...lines].slice(0, maxNamed).join(", ")
    process.stderr.write(
      `vitamin: denied, since nobody could be asked: ${Log.escapeControls(named)}${more}\n`,
    )
    process.exitCode = exitCodes.nobodyToAsk
  }
  return Object.freeze({ tell, stop })
}
