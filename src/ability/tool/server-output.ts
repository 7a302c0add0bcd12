// Converts the result of an MCP tool into an output of the gate: text for the model, images, structured content as
// data. Content that can be neither read nor seen is named.

import type { Json, Output, OutputImage } from "#ability/call/types.ts"
import { NamedError } from "#util/error.ts"

type Content =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
  | { type: "resource_link"; uri: string; name: string; description?: string; mimeType?: string }
export type ServerResult = { content: Content[]; structuredContent?: unknown; isError: boolean }

/** Throws if the tool reported a failure, so that the call counts as failed. */
export function outputOf({ content, structuredContent, isError }: ServerResult): Output {
  const images: OutputImage[] = []
  const lines = content.map((part) => textOf(part, images))
  if (structuredContent !== undefined && !content.some(({ type }) => type === "text"))
    lines.push(JSON.stringify(structuredContent, null, 2))
  const text = lines.join("\n")
  if (isError) throw new NamedError("MCP.ToolFailed", text || "The tool failed and did not say why.")
  return {
    text: text || "(no output)",
    ...(structuredContent === undefined ? {} : { data: structuredContent as Json }),
    ...(images.length ? { images } : {}),
  }
}

function textOf(part: Content, images: OutputImage[]): string {
  switch (part.type) {
    case "text":
      return part.text
    case "image":
      images.push({ data: part.data, mimeType: part.mimeType })
      return `[image ${images.length}: ${part.mimeType}, shown below]`
    case "audio":
      return `[audio: ${part.mimeType}, ${bytesOf(part.data)} bytes, which cannot be heard here]`
    case "resource_link":
      return `[resource ${part.uri}: ${part.name}${part.description ? `, ${part.description}` : ""}]`
    case "resource":
      return resourceText(part.resource, images)
  }
}

function resourceText(
  {
    uri,
    mimeType = "application/octet-stream",
    text,
    blob = "",
  }: Extract<Content, { type: "resource" }>["resource"],
  images: OutputImage[],
): string {
  if (text !== undefined) return `[resource ${uri}]\n${text}`
  if (!mimeType.startsWith("image/")) return `[resource ${uri}: ${mimeType}, ${bytesOf(blob)} bytes]`
  images.push({ data: blob, mimeType })
  return `[resource ${uri}, image ${images.length}: ${mimeType}, shown below]`
}

function bytesOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4)
}
