// Vectors from a GGUF file on this machine, such as EmbeddingGemma. The header is read at once, so that a wrong file is
// refused with its name; the library and the model are loaded for the first text.
import { basename } from "node:path"
import { GgufInvalid, readGgufHeader } from "#knowledge/llama/gguf-header.ts"
import type { Llama } from "#knowledge/llama/llama.ts"
import { toUnit } from "./embedded-model.ts"
import { type Embedder, prefixesOf } from "./types.ts"

export type GgufEmbedderConfig = { backend: "gguf"; path: string }

const maxText = 8_000
const maxContext = 2_048
const batchSize = 32

export function createGgufEmbedder({ path }: GgufEmbedderConfig): Embedder {
  const { embedding: dimensions = 0, context = maxContext, size, modified } = readGgufHeader(path)
  if (dimensions < 1) throw new GgufInvalid(path, "it does not say how long its vectors are")
  let loading: Promise<Llama> | undefined

  async function embedBatch(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions))
    const filled = texts.flatMap((text, at) => (text.trim() ? [{ at, text: text.slice(0, maxText) }] : []))
    for (let start = 0; start < filled.length; start += batchSize) {
      const batch = filled.slice(start, start + batchSize)
      loading ??= load(path, Math.min(context, maxContext))
      const given = await (await loading).embed(batch.map(({ text }) => text))
      for (const [index, { at }] of batch.entries()) vectors[at] = checked(given[index])
    }
    return vectors
  }

  function checked(vector: Float32Array | undefined): Float32Array {
    if (vector?.length !== dimensions)
      throw new GgufInvalid(path, `it gave a vector of ${vector?.length ?? 0} numbers, not ${dimensions}`)
    if (!vector.every(Number.isFinite))
      throw new GgufInvalid(path, "it gave a vector with something else than numbers")
    return toUnit(vector)
  }

  async function close(): Promise<void> {
    // One that could not be loaded has nothing to close.
    const llama = await loading?.catch(() => undefined)
    loading = undefined
    await llama?.close()
  }

  return Object.freeze({
    id: `${basename(path)}:${size}:${Math.floor(modified)}`,
    dimensions,
    prefixes: prefixesOf(basename(path)),
    embed: async (text: string) => (await embedBatch([text]))[0]!,
    embedBatch,
    close,
  })
}

async function load(path: string, context: number): Promise<Llama> {
  const { loadLlama } = await import("#knowledge/llama/llama.ts")
  return loadLlama({ path, use: "embedding", context })
}
