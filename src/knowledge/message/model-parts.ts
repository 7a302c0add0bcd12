// The parts of a prompt. Images, files and resources become parts of a user message: a file if the model accepts one, else
// text, else a short note that something was there. Tool calls and their results become input and output.

import type {
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider"
import { fileName } from "#client/attachment-words.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import { type Call, isObject, type Of, toolName } from "./schema.ts"

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart
/** What a model accepts, and how to find the stored bytes of an image. */
type Reader = {
  input: readonly string[]
  imageBytes?: ((hash: string) => Uint8Array | undefined) | undefined
}

type Output = LanguageModelV4ToolResultOutput

const binary = /^(image\/(?!svg)|application\/pdf$)/

export function imageParts(data: Of<"image">["data"], model: Reader): UserPart[] {
  const { source, recognizedText, visionAnalysis } = data
  const name =
    source.kind === "base64" || source.value.startsWith("data:") ? "image" : `image ${source.value}`
  // Text that was read for a model without vision does not replace the image for one that sees.
  const file = data.mode === "ocr" || data.state === "failed" ? undefined : imageFile(data, model)
  if (file) return [file]
  const wantsText = (data.usedMode ?? data.mode) === "ocr"
  const isSeen = visionAnalysis && !(wantsText && recognizedText)
  if (isSeen) return text(`[what a model said of ${name}]\n${visionAnalysis}`)
  if (recognizedText) return text(`[text of ${name}]\n${recognizedText}`)
  if (data.usedMode === "ocr" && data.state === "done") return text(`[${name}: no text was found in it]`)
  if (data.state === "failed") return text(`[${name} could not be read${because(data.error)}]`)
  return text(`[${name}: not readable here]`)
}

export function fileParts(data: Of<"file_reference">["data"]): UserPart[] {
  const name = fileName(data)
  if (data.status === "resolved")
    return text(`<file path=${JSON.stringify(name)}>\n${data.content ?? ""}\n</file>`)
  if (data.status === "failed") return text(`[file ${name} could not be read${because(data.error)}]`)
  return text(`[file ${name}: not read yet]`)
}

export function resourceParts(data: Of<"mcp_resource">["data"], model: Reader): UserPart[] {
  const { serverName, resourceUri, content, mimeType, error } = data
  if (error !== undefined)
    return text(`[resource ${resourceUri} of ${serverName} could not be read${because(error)}]`)
  if (mimeType && binary.test(mimeType)) {
    if (takes(model, mimeType)) return [asFile(mimeType, content)]
    return text(`[resource ${resourceUri} of ${serverName}: ${mimeType} is not readable here]`)
  }
  // The person chose the resource, but its text is the server's.
  const tagged = insideTag("resource", content, { server: serverName, uri: resourceUri })
  return text(`Provided by the system:\n${tagged}`)
}

export function shownName(name: string): string {
  return toolName.test(name) ? name : name.replace(/[^\w-]/g, "_").slice(0, 64) || "unnamed"
}

/** Providers take objects only. */
export function inputOf(call: Call): unknown {
  if (call.invalid !== undefined) return { rawInvalidInput: call.invalid }
  return isObject(call.arguments) ? call.arguments : { rawInvalidInput: call.arguments }
}

export function unanswered({ approval }: Call): Output {
  const value =
    approval === "denied"
      ? "The call was denied and did not run."
      : "The call was interrupted; whether it had an effect is not known."
  return { type: "error-text", value }
}

export function outputOf({ status, output, error }: Of<"tool_result">["data"]): Output {
  if (status === "success")
    return typeof output === "string"
      ? { type: "text", value: output }
      : { type: "json", value: output as Extract<Output, { type: "json" }>["value"] }
  const said = typeof output === "string" ? output : output === null ? "" : JSON.stringify(output)
  const reason =
    error?.message ?? (status === "interrupted" ? "The call was interrupted." : "The call failed.")
  return { type: "error-text", value: said.includes(reason) ? said : said ? `${reason}\n${said}` : reason }
}

/** A result for a model that cannot call tools. */
export function resultText(name: string, output: Output): string {
  const value = "value" in output && typeof output.value === "string" ? output.value : JSON.stringify(output)
  return `[result of ${name}]\n${value}`
}

/** A path is only a name here; the reader provides stored bytes. */
function imageFile({ source, stored }: Of<"image">["data"], model: Reader) {
  if (stored) {
    const bytes = takes(model, stored.mimeType) ? model.imageBytes?.(stored.hash) : undefined
    return bytes && asFile(stored.mimeType, Buffer.from(bytes).toString("base64"))
  }
  const { kind, value, mimeType } = source
  const inline = /^data:([\w.+/-]*);base64,/.exec(value)
  const mediaType = mimeType ?? (inline?.[1] || "image/*")
  if (kind === "file" || !value || !takes(model, mediaType)) return undefined
  if (inline) return asFile(mediaType, value.slice(inline[0].length))
  if (kind === "base64") return asFile(mediaType, value)
  // If images are stored, a URL without stored bytes was never allowed.
  const url = model.imageBytes ? undefined : URL.parse(value)
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
