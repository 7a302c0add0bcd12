// Images, files and resources as parts of a user message: as a file where the model takes one, else as text, else as
// a short note that something was there.
import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider"
import type { Of } from "./schema.ts"

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart
type Reader = { input: readonly string[] }

const binary = /^(image\/(?!svg)|application\/pdf$)/

export function imageParts(data: Of<"image">["data"], model: Reader): UserPart[] {
  const { source, recognizedText, visionAnalysis } = data
  const name =
    source.kind === "base64" || source.value.startsWith("data:") ? "image" : `image ${source.value}`
  const wantsText = (data.usedMode ?? data.mode) === "ocr"
  const file = wantsText || data.state === "failed" ? undefined : imageFile(source, model)
  if (file) return [file]
  const words = wantsText ? (recognizedText ?? visionAnalysis) : (visionAnalysis ?? recognizedText)
  if (words) return text(`[text of ${name}]\n${words}`)
  if (data.state === "failed") return text(`[${name} could not be read${because(data.error)}]`)
  return text(`[${name}: not readable here]`)
}

export function fileParts(data: Of<"file_reference">["data"]): UserPart[] {
  const { path, startLine, endLine, content } = data
  const lines = startLine === undefined && endLine === undefined ? "" : `:${startLine ?? 1}-${endLine ?? ""}`
  if (data.status === "resolved")
    return text(`<file path=${JSON.stringify(path + lines)}>\n${content ?? ""}\n</file>`)
  if (data.status === "failed") return text(`[file ${path}${lines} could not be read${because(data.error)}]`)
  return text(`[file ${path}${lines}: not read yet]`)
}

export function resourceParts(data: Of<"mcp_resource">["data"], model: Reader): UserPart[] {
  const { serverName, resourceUri, content, mimeType } = data
  if (mimeType && binary.test(mimeType)) {
    if (takes(model, mimeType)) return [asFile(mimeType, content)]
    return text(`[resource ${resourceUri} of ${serverName}: ${mimeType} is not readable here]`)
  }
  const [server, uri] = [JSON.stringify(serverName), JSON.stringify(resourceUri)]
  return text(`<resource server=${server} uri=${uri}>\n${content}\n</resource>`)
}

/** A path is only a name here: whoever builds the request reads it first and puts the bytes in its place. */
function imageFile({ kind, value, mimeType }: Of<"image">["data"]["source"], model: Reader) {
  const inline = /^data:([\w.+/-]*);base64,/.exec(value)
  const mediaType = mimeType ?? (inline?.[1] || "image/*")
  if (kind === "file" || !value || !takes(model, mediaType)) return undefined
  if (inline) return asFile(mediaType, value.slice(inline[0].length))
  if (kind === "base64") return asFile(mediaType, value)
  const url = URL.parse(value)
  return url ? { type: "file" as const, mediaType, data: { type: "url" as const, url } } : undefined
}

function takes({ input }: Reader, mediaType: string): boolean {
  return input.includes(mediaType === "application/pdf" ? "pdf" : "image")
}

function asFile(mediaType: string, data: string): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data } }
}

function because(error: string | undefined): string {
  return error ? `: ${error}` : ""
}

function text(text: string): UserPart[] {
  return [{ type: "text", text }]
}
