// Tells a client how its call goes on, where it wants to know: one notification after the other, each with a higher number.
import type { ServerContext } from "@modelcontextprotocol/server"
import { plainText } from "#ability/tool/define/plain-text.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/process/secret.ts"

const maxText = 500

export function createReport({ mcpReq }: ServerContext): (text: string) => void {
  const { progressToken } = mcpReq._meta ?? {}
  if (progressToken === undefined) return () => {}
  let progress = 0
  return (text) => {
    // Of what a program prints, the end is what it does now.
    const message = plainText(Secret.redact(text.trim()).slice(-maxText), maxText)
    if (!message || mcpReq.signal.aborted) return
    const params = { progressToken, progress: ++progress, message }
    mcpReq
      .notify({ method: "notifications/progress", params })
      .catch((error) => Log.debug("an MCP client did not take a notification", { error }))
  }
}
