// Creates an embedder, which turns texts into vectors. The default is the embedded model, which needs no network, no native
// code and no configuration. Callers fall back to text search when an embedder fails.
import { embeddedFacts, loadEmbedded } from "./embedded-model.ts"
import { createGgufEmbedder, type GgufEmbedderConfig } from "./gguf-embedder.ts"
import { createModelEmbedder, type ModelEmbedderConfig } from "./model-embedder.ts"
import type { Embedder } from "./types.ts"

export type EmbedderConfig = { backend?: "embedded" } | ModelEmbedderConfig | GgufEmbedderConfig

export function createEmbedder(config: EmbedderConfig = {}): Embedder {
  if (config.backend === "model") return createModelEmbedder(config)
  if (config.backend === "gguf") return createGgufEmbedder(config)
  return createEmbedded()
}

/** The model file is opened for the first text. */
function createEmbedded(): Embedder {
  const embedNow = (text: string): Float32Array => loadEmbedded().embed(text)
  return Object.freeze({
    ...embeddedFacts,
    embedNow,
    pieces: Object.freeze({
      of: (text: string) => loadEmbedded().pieces.of(text),
      add: (piece: number, weight: number, sum: Float32Array) =>
        loadEmbedded().pieces.add(piece, weight, sum),
    }),
    embed: async (text: string) => embedNow(text),
    embedBatch: async (texts: readonly string[]) => texts.map(embedNow),
    close: async () => undefined,
  })
}
