// The line about an attachment, when it is resolved or has failed.
import { basename } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { attachmentWords } from "#client/attachment-words.ts"
import type { Message } from "#client/client.ts"
import type { Picture } from "#edge/tui/screen/picture.ts"
import type { Told } from "./event-notes.ts"

export type AttachedMessage = Extract<Message, { type: "file_reference" | "image" | "mcp_resource" }>

type ImageMessage = Extract<Message, { type: "image" }>
/** Undefined if there is no such image. */
export type LoadImage = (image: { id: string; hash: string }) => Promise<Picture | undefined>

/** Bytes of an image that the terminal gets. */
const maxBytes = 2_000_000
/** Milliseconds that what follows an image waits for it. */
const maxWait = 30_000

/** Undefined while it is being resolved. */
export function attachmentNote(message: AttachedMessage): Told | undefined {
  const words = attachmentWords(message)
  if (words === undefined) return undefined
  const isFailed = words.startsWith("✗")
  const text = !isFailed && message.type === "image" ? imageWords(message.data) : words.replace(/^[·✗] /, "")
  return isFailed ? { text, mark: "✗", role: "error" } : { text, mark: "·", role: "dim" }
}

/** Undefined if the image is not stored, or is too large to be shown. */
export function pictureOf(
  message: AttachedMessage,
  load: LoadImage,
): Promise<Picture | undefined> | undefined {
  if (message.type !== "image" || message.data.state === "failed" || !message.data.stored) return undefined
  const { bytes } = message.data.metadata ?? {}
  if (typeof bytes !== "number" || bytes > maxBytes) return undefined
  const loading = load({ id: message.sessionId, hash: message.data.stored.hash })
  return Promise.race([loading, sleep(maxWait, undefined, { ref: false })])
}

/** `[image shot.png 640×480 PNG, 12 KB]`; an image whose text was read says so. */
function imageWords({ source, stored, usedMode, metadata = {} }: ImageMessage["data"]): string {
  const { width, height, bytes } = metadata
  const type = (stored?.mimeType ?? source.mimeType)?.replace("image/", "").toUpperCase()
  const isNamed = source.kind !== "base64" && !/^data:/i.test(source.value)
  const facts = [
    "image",
    isNamed ? basename(source.value.replace(/[?#].*$/, "")) : "",
    typeof width === "number" && typeof height === "number" ? `${width}×${height}` : "",
    type ?? "",
  ]
  const size = typeof bytes === "number" ? `, ${Math.ceil(bytes / 1_000)} KB` : ""
  return `[${facts.filter(Boolean).join(" ")}${size}]${usedMode === "ocr" ? " read as text (OCR)" : ""}`
}
