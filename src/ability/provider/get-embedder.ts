// The embedder of this instance: the embedded model, unless the configuration names another. An unusable one is
// reported once, and search continues by words only.
import { homedir } from "node:os"
import { resolve } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { calibrate } from "#knowledge/index/calibrate.ts"
import { errorText } from "#util/error.ts"

type Made = { wanted: string; embedder: Promise<Embedder | undefined> }

const state = Instance.state(
  (): { made?: Made } => ({}),
  async ({ made }) => (await made?.embedder)?.close(),
)

/** Created once, and again after its settings have changed. */
export async function getEmbedder(): Promise<Embedder | undefined> {
  const { embedder: settings = {} } = await Config.get()
  const own = state()
  const wanted = JSON.stringify(settings)
  if (own.made?.wanted !== wanted) {
    const before = own.made?.embedder
    own.made = { wanted, embedder: make(settings).catch(orNone) }
    before?.then((embedder) => embedder?.close())
  }
  return own.made?.embedder
}

async function make({ model, gguf }: NonNullable<Config.Info["embedder"]>): Promise<Embedder> {
  if (gguf) return withScale(createEmbedder({ backend: "gguf", path: pathOf(gguf) }))
  if (!model) return embedded()
  const { loadEmbeddingModel } = await import("./load-embedding-model.ts")
  const embedMany = await loadEmbeddingModel(model)
  // The length of its vectors is known only from an answer.
  const [first] = await embedMany(["length"])
  const dimensions = first?.length ?? 0
  if (dimensions === 0) throw new Error(`${model} answered without a vector`)
  return withScale(createEmbedder({ backend: "model", id: `${model}:${dimensions}`, dimensions, embedMany }))
}

/** Adds a scale, which is measured at the first search, and again only if that failed. */
function withScale(embedder: Embedder): Embedder {
  let scale: ReturnType<typeof calibrate> | undefined
  const measured = () => {
    scale ??= calibrate(embedder)
    scale.catch(() => {
      scale = undefined
    })
    return scale
  }
  return Object.freeze({ ...embedder, scale: measured })
}

/** Embeds a text at once, so that a broken model file is reported here. */
function embedded(): Embedder {
  const embedder = createEmbedder()
  embedder.embedNow?.("")
  return embedder
}

function pathOf(given: string): string {
  return given.startsWith("~/") ? resolve(homedir(), given.slice(2)) : resolve(Instance.worktree, given)
}

function orNone(error: unknown): undefined {
  Log.warn("the embedder cannot be used, so search uses words only", {
    error: errorText(error),
  })
}
