// The last line that a running call has printed, in one line of the terminal that the next one replaces and that is gone
// before anything else is shown. Where there is no terminal there is no such line.
import * as Permission from "#ability/permission/permission.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as Bus from "#kernel/bus.ts"
import * as Env from "#kernel/env.ts"
import * as Log from "#kernel/log.ts"

export type ProgressLine = { clear(): void; stop(): void }

const none: ProgressLine = Object.freeze({ clear() {}, stop() {} })
const eraseLine = "\r\u001b[K"

/** `makeRoom` is called before the line is drawn: what stands in its place must have ended. */
export function createProgressLine(makeRoom: () => void): ProgressLine {
  const { stderr } = process
  if (!stderr.isTTY || Env.get("TERM") === "dumb") return none
  const questions = new Set<string>()
  let isShown = false

  function clear(): void {
    if (isShown) stderr.write(eraseLine)
    isShown = false
  }

  const unsubscribe = [
    Bus.subscribe(Tool.Progress, ({ text }) => {
      const line = lastLine(text)
      // A person who is asked something wants to see nothing move.
      if (!line || questions.size) return
      if (!isShown) makeRoom()
      isShown = true
      stderr.write(`${eraseLine}  ${fit(line, (stderr.columns || 80) - 3)}`)
    }),
    Bus.subscribe(Permission.Requested, ({ id }) => {
      questions.add(id)
      clear()
    }),
    Bus.subscribe(Permission.Replied, ({ id }) => void questions.delete(id)),
  ]

  function stop(): void {
    for (const each of unsubscribe) each()
    clear()
  }

  return Object.freeze({ clear, stop })
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split("\n").at(-1)?.replaceAll("\t", " ")
}

/** Other characters than plain ones may be two columns wide. */
function fit(line: string, columns: number): string {
  const safe = Log.escapeControls(line)
  const most = /^[ -~]*$/.test(safe) ? columns : Math.floor(columns / 2)
  const characters = [...safe.slice(0, 2 * most + 2)]
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : characters.join("")
}
