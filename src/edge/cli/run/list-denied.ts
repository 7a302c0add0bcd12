// Reports at the end of a run what was denied: by a rule, by plan mode, or because nobody could be asked. It sets exit code
// 3, also if the person rejected something.
import * as Permission from "#ability/permission/permission.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { wrapLines } from "#edge/cli/terminal/wrap-text.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Log from "#kernel/process/log.ts"

const maxNamed = 3

export function listDenied(): { report(): void; stop(): void } {
  const unasked = new Set<string>()
  const byRule = new Set<string>()
  const byMode = new Set<string>()
  let isRejected = false
  const unsubscribe = [
    Bus.subscribe(Permission.Denied, ({ by, source, needs, protected: isProtected }) => {
      const named = needs.map(Permission.sayNeed).join(" and ")
      if (by === "rule") return void (source === "mode" ? byMode : byRule).add(named)
      const judged = needs.map((need) => ({ ...need, ...(isProtected ? { protected: true as const } : {}) }))
      unasked.add(`${named} (${Permission.flagsFor(judged)})`)
    }),
    Bus.subscribe(Permission.Replied, ({ reply, by }) => {
      if (reply === "reject" && (by === "person" || by === "time")) isRejected = true
    }),
  ]

  function report(): void {
    write("denied, since nobody could be asked", unasked)
    write("denied by a rule", byRule)
    write("denied in plan mode, which only reads (--mode act allows changes)", byMode)
    if (unasked.size || byRule.size || byMode.size || isRejected) process.exitCode = exitCodes.denied
  }

  function stop(): void {
    for (const each of unsubscribe) each()
  }

  return Object.freeze({ report, stop })
}

function write(what: string, lines: Set<string>): void {
  if (!lines.size) return
  const more = lines.size > maxNamed ? `, and ${lines.size - maxNamed} more` : ""
  const named = [...lines].slice(0, maxNamed).join(", ")
  process.stderr.write(`${wrapLines(`vitamin: ${what}: ${Log.escapeControls(named)}${more}`)}\n`)
}
