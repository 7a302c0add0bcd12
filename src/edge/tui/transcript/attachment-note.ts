// The line about an attachment, when it is resolved or has failed.
import { attachmentWords } from "#client/attachment-words.ts"
import type { Message } from "#client/client.ts"
import type { Told } from "./event-notes.ts"

export type AttachedMessage = Extract<Message, { type: "file_reference" | "image" | "mcp_resource" }>

/** Undefined while it is being resolved. */
export function attachmentNote(message: AttachedMessage): Told | undefined {
  const words = attachmentWords(message)
  if (words === undefined) return undefined
  const isFailed = words.startsWith("✗")
  const size = !isFailed && message.type === "image" ? sizeOf(message.data.metadata) : ""
  const text = words.replace(/^[·✗] /, "") + size
  return isFailed ? { text, mark: "✗", role: "error" } : { text, mark: "·", role: "dim" }
}

/** `, 640 × 480, 12 KB` */
function sizeOf(metadata: Readonly<Record<string, unknown>> = {}): string {
  const { width, height, bytes } = metadata
  const parts = [
    typeof width === "number" && typeof height === "number" ? `${width} × ${height}` : "",
    typeof bytes === "number" ? `${Math.ceil(bytes / 1_000)} KB` : "",
  ]
  return parts.map((part) => part && `, ${part}`).join("")
}
