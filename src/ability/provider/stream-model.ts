// Asks a model. Our own client gives its parts without a stream between.
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { PartReader, Streamed } from "#ability/provider/chat/chat-model.ts"

/** Ask a model, and read its answer part by part. */
export async function streamModel(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
): Promise<PartReader> {
  const answer: Streamed = await model.doStream(options)
  return answer.reader ?? answer.stream.getReader()
}
