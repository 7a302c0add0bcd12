// Vectors from the embedding model of a provider, through a function of the caller. Its results are checked: one vector of
// the wrong length would spoil every later comparison.
import { errorText, NamedError } from "#util/error.ts"
import { toUnit } from "./embedded-model.ts"
import { type Embedder, prefixesOf } from "./types.ts"

export type ModelEmbedderConfig = {
  backend: "model"
  /** Names the model: `provider/model`. */
  id: string
  dimensions: number
  embedMany(texts: string[]): Promise<number[][]>
}

class ModelFailed extends NamedError {
  constructor(id: string, reason: string, cause?: unknown) {
    super("Embedder.ModelFailed", `The embedding model ${id} gave no vectors: ${reason}`, { id }, { cause })
  }
}

const batchSize = 96
const maxText = 8_000

export function createModelEmbedder({ id, dimensions, embedMany }: ModelEmbedderConfig): Embedder {
  async function embedBatch(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions))
    // Models refuse an empty text; its vector is zero.
    const filled = texts.flatMap((text, at) => (text.trim() ? [{ at, text: text.slice(0, maxText) }] : []))
    for (let start = 0; start < filled.length; start += batchSize) {
      const batch = filled.slice(start, start + batchSize)
      const lists = await ask(batch.map(({ text }) => text))
      for (const [index, { at }] of batch.entries()) vectors[at] = toUnit(Float32Array.from(lists[index]!))
    }
    return vectors
  }

  async function ask(texts: string[]): Promise<number[][]> {
    const lists = await embedMany(texts).catch((error: unknown) => {
      throw new ModelFailed(id, errorText(error), error)
    })
    if (!Array.isArray(lists) || lists.length !== texts.length)
      throw new ModelFailed(id, `${texts.length} texts were sent, ${lists?.length ?? 0} vectors came back`)
    for (const list of lists) check(list)
    return lists
  }

  function check(list: number[] | undefined): asserts list {
    if (list?.length !== dimensions)
      throw new ModelFailed(id, `a vector has ${list?.length ?? 0} numbers, ${dimensions} were expected`)
    if (!list.every(Number.isFinite)) throw new ModelFailed(id, "a vector holds something that is no number")
  }

  return Object.freeze({
    id,
    dimensions,
    prefixes: prefixesOf(id),
    embed: async (text: string) => (await embedBatch([text]))[0]!,
    embedBatch,
    close: async () => undefined,
  })
}
