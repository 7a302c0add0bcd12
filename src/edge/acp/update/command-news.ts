// Reports the slash commands, again whenever they change.
import { isDeepStrictEqual } from "node:util"
import type { AvailableCommand } from "@agentclientprotocol/sdk"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { availableCommands, type Send } from "./updates.ts"

export type CommandNews = Readonly<{
  /** There may be others. */
  look(): void
  stop(): void
}>

export function createCommandNews(options: {
  sessionId: string
  inside: <T>(fn: () => T) => T
  send: Send
}): CommandNews {
  const { sessionId } = options
  let told: AvailableCommand[] = []
  let [isLooking, isStale, isOver] = [false, false, false]

  function look(): void {
    isStale = true
    if (isLooking || isOver) return
    isLooking = true
    void options.inside(report).finally(() => {
      isLooking = false
    })
  }

  async function report(): Promise<void> {
    while (isStale && !isOver)
      try {
        isStale = false
        const commands = await availableCommands({ sessionId })
        if (isOver || isDeepStrictEqual(commands, told)) continue
        told = commands
        options.send({ sessionUpdate: "available_commands_update", availableCommands: commands })
      } catch (error) {
        if (!isOver) Log.warn("the commands of a folder could not be told", { error: errorText(error) })
      }
  }

  function stop(): void {
    isOver = true
  }

  return Object.freeze({ look, stop })
}
