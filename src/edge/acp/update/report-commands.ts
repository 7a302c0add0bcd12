// Reports the slash commands of a session, and reports them again when they change.
import { isDeepStrictEqual } from "node:util"
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { availableCommands, type Send } from "./updates.ts"

export type CommandReporter = Readonly<{
  /** Read the commands again, and report them if they have changed. Resolves when they are reported. */
  refresh(): Promise<void>
  stop(): void
}>

export function createCommandReporter(options: {
  sessionId: string
  inside: <T>(fn: () => T) => T
  send: Send
}): CommandReporter {
  const { sessionId } = options
  let sent: AvailableCommand[] = []
  let reading: Promise<void> | undefined
  let [isStale, isStopped] = [false, false]

  async function refresh(): Promise<void> {
    isStale = true
    if (isStopped) return
    reading ??= options.inside(report).finally(() => {
      reading = undefined
    })
    await reading
  }

  async function report(): Promise<void> {
    while (isStale && !isStopped)
      try {
        isStale = false
        const commands = await availableCommands({ sessionId })
        if (isStopped || isDeepStrictEqual(commands, sent)) continue
        sent = commands
        options.send({ sessionUpdate: "available_commands_update", availableCommands: commands })
      } catch (error) {
        if (!isStopped)
          Log.warn("the commands of a folder could not be reported", { error: errorText(error) })
      }
  }

  function stop(): void {
    isStopped = true
  }

  return Object.freeze({ refresh, stop })
}
