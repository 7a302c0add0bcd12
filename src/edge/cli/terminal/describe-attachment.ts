// One line about an attachment, or why it failed: `· attached src/app.ts:10-20`.
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"

const maxLine = 500

/** Undefined for other messages, and for attachments that are still being resolved. */
export function describeAttachment(message: Message.Info): string | undefined {
  if (message.type === "mcp_resource") return describeResource(message.data)
  if (message.type !== "file_reference" && message.type !== "image") return undefined
  const isFile = message.type === "file_reference"
  const state = isFile ? message.data.status : message.data.state
  // The model itself will see the image.
  if (state === "pending" && (isFile || !message.data.usedMode)) return undefined
  const name = isFile ? Message.fileName(message.data) : nameOf(message.data)
  const line =
    state === "failed"
      ? `✗ ${name} could not be attached: ${message.data.error ?? "the reason is not known"}`
      : `· attached ${name}`
  return Log.escapeControls(line.slice(0, maxLine))
}

function describeResource(data: Message.Of<"mcp_resource">["data"]): string | undefined {
  const { serverName, resourceUri, error, retrievedAt } = data
  if (error === undefined && !retrievedAt) return undefined
  const name = `${serverName}:${resourceUri}`
  const line = error === undefined ? `· attached ${name}` : `✗ ${name} could not be attached: ${error}`
  return Log.escapeControls(line.slice(0, maxLine))
}

function nameOf({ source, usedMode }: Message.Of<"image">["data"]): string {
  const isShort = source.kind !== "base64" && !source.value.startsWith("data:")
  return `${isShort ? source.value : "an image"}${usedMode ? ` (${usedMode})` : ""}`
}
