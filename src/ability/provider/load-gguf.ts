// A GGUF file that the person added, run by llama.cpp in a process of its own. It is loaded with the first request.
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Resolved } from "#ability/provider/catalog/resolve-model.ts"
import { Instance } from "#kernel/instance.ts"
import type { Llama } from "#knowledge/llama/llama.ts"

/** Those that this instance has in use. */
const llamas = Instance.state(
  () => new Set<Llama>(),
  (all) => Promise.all([...all].map((llama) => llama.close())),
)

export async function loadGguf({ modelId, facts, file }: Resolved): Promise<LanguageModelV4> {
  const { path, gpu } = file!
  const { loadLlama } = await import("#knowledge/llama/llama.ts")
  const { createFunctionGemmaModel } = await import("./functiongemma/functiongemma-model.ts")
  const backend = loadLlama({ path, use: "completion", context: facts.context, gpu })
  llamas().add(backend)
  return createFunctionGemmaModel({ modelId, backend, maxTokens: facts.output })
}
