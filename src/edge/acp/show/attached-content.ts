// Converts attached files, images and MCP resources of a history into content blocks.
import { basename, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type { ContentBlock } from "@agentclientprotocol/sdk"
import * as ImageStore from "#ability/image/image-store.ts"
import * as Message from "#knowledge/message/message.ts"
import { firstLine, head } from "./markdown.ts"

type Attached = Message.Of<"file_reference" | "image" | "mcp_resource">

/** In base64 characters. */
const maxImage = 7_000_000
const maxUri = 4_000
const dataUrl = /^data:([\w.+/-]*);base64,/i

export function isAttached(message: Message.Info): message is Attached {
  return ["file_reference", "image", "mcp_resource"].includes(message.type)
}

export function attachedContent(message: Attached, directory: string): ContentBlock {
  if (message.type === "image") return imageContent(message, directory)
  if (message.type === "file_reference") {
    const { path, startLine, endLine } = message.data
    const lines =
      startLine === undefined ? "" : `#L${startLine}${endLine === undefined ? "" : `-L${endLine}`}`
    return link(fileUri(directory, path) + lines, firstLine(Message.fileName(message.data)))
  }
  const { serverName, resourceUri, mimeType } = message.data
  return {
    ...link(resourceUri, firstLine(`${serverName}:${resourceUri}`)),
    ...(mimeType ? { mimeType } : {}),
  }
}

/** The image itself if its bytes are stored, otherwise a link to its source or a note. */
export function imageContent(message: Message.Of<"image">, directory: string): ContentBlock {
  const { source, stored, error = "not stored" } = message.data
  const { data, mimeType } = bytesOf(message)
  if (data !== undefined && data.length <= maxImage) return { type: "image", data, mimeType }
  if (source.kind === "file") return link(fileUri(directory, source.value), firstLine(basename(source.value)))
  if (source.kind === "url" && !dataUrl.test(source.value)) return link(source.value, "image")
  const why = data === undefined || !stored ? error : "too large to show"
  return { type: "text", text: `[image: ${firstLine(why, 300)}]` }
}

/** `data` is base64. */
function bytesOf({ sessionId, data }: Message.Of<"image">): { data?: string | undefined; mimeType: string } {
  const { source, stored } = data
  if (stored)
    return { data: ImageStore.read(sessionId, stored.hash)?.toString("base64"), mimeType: stored.mimeType }
  const [whole = "", named] = dataUrl.exec(source.value) ?? []
  const value = source.value.slice(whole.length)
  const isInline = data.state !== "failed" && (source.kind === "base64" || whole !== "")
  const mimeType = source.mimeType ?? named ?? "image/png"
  return isInline && /^[\w+/]+=*$/.test(value) ? { data: value, mimeType } : { mimeType }
}

function link(uri: string, name: string): Extract<ContentBlock, { type: "resource_link" }> {
  return { type: "resource_link", uri: head(uri, maxUri), name }
}

function fileUri(directory: string, path: string): string {
  return pathToFileURL(resolve(directory, head(path, maxUri))).href
}
