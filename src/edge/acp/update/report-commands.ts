// Reports the slash commands of a session, and reports them again when they change.
import { isDeepStrictEqual } from "node:util"
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { availableCommands, type Send } from "./updates.ts"

export type CommandReporter = Readonly<{
  /** Read the commands again, and report them if they have changed. */
  refresh(): void
  stop(): void
}>

export function createCommandReporter(options: {
  sessionId: string
  inside: <T>(fn: () => T) => T
  send: Send
}): CommandReporter {
  const { sessionId } = options
  let sent: AvailableCommand[] = []
  let [isReading, isStale, isStopped] = [false, false, false]

  function refresh(): void {
    isStale = true
    if (isReading || isStopped) return
    isReading = true
    void options.inside(report).finally(() => {
      isReading = false
    })
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
