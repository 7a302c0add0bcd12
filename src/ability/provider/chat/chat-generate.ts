// Collects a stream into one answer, for `doGenerate`.
import {
  InvalidResponseDataError,
  type LanguageModelV4Content,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
} from "@ai-sdk/provider"
import { faultOf } from "./chat-errors.ts"

export async function generateFrom(
  { stream, request, response }: LanguageModelV4StreamResult,
  url: string,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = []
  const result: Pick<LanguageModelV4GenerateResult, "warnings" | "response"> = { warnings: [] }
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined
  for await (const part of stream as unknown as AsyncIterable<LanguageModelV4StreamPart>) {
    if (part.type === "error") throw faultOf(part.error, url)
    if (part.type === "stream-start") result.warnings = part.warnings
    else if (part.type === "response-metadata") {
      const { type: _, ...metadata } = part
      result.response = metadata
    } else if (part.type === "text-start") content.push({ type: "text", text: "" })
    else if (part.type === "reasoning-start") content.push({ type: "reasoning", text: "" })
    else if (part.type === "text-delta" || part.type === "reasoning-delta") addTo(content.at(-1), part.delta)
    else if (part.type === "tool-call") content.push(part)
    else if (part.type === "finish") finish = part
  }
  if (!finish)
    throw new InvalidResponseDataError({ data: undefined, message: "The answer broke off before its end." })
  const { type: _, ...end } = finish
  return {
    content,
    ...end,
    ...result,
    ...(request ? { request } : {}),
    response: { ...result.response, ...response },
  }
}

function addTo(part: LanguageModelV4Content | undefined, delta: string) {
  if (part?.type === "text" || part?.type === "reasoning") part.text += delta
}
