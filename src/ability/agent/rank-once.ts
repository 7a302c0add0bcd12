// The same request among the same agents under the same rules is ranked once. Only the very same words count, since they
// are what is ranked, and the reasons name them.
import { Instance } from "#kernel/instance.ts"
import type { SemanticCache } from "#knowledge/cache/semantic-cache.ts"
import type { AgentDefinition } from "./agent.ts"
import { type Ranked, rank } from "./rank.ts"

type State = {
  rankings?: Promise<SemanticCache>
  /** Definitions do not change; another one of the same id is another object. */
  numbers: WeakMap<AgentDefinition, number>
  last: number
}

const limits = { maxEntries: 500, maxBytes: 4_000_000, ttlMs: 3_600_000 }

const state = Instance.state((): State => ({ numbers: new WeakMap(), last: 0 }))

export async function rankOnce(options: Parameters<typeof rank>[0]): Promise<Ranked[]> {
  const { input, agents, rules, fallback } = options
  const own = state()
  own.rankings ??= create()
  const numbers = agents.map((agent) => numberOf(agent, own))
  const key = JSON.stringify([numbers, rules, fallback, input])
  const { response } = await (await own.rankings).getOrCompute(key, async () => JSON.stringify(rank(options)))
  return JSON.parse(response)
}

async function create(): Promise<SemanticCache> {
  const { createSemanticCache } = await import("#knowledge/cache/semantic-cache.ts")
  return createSemanticCache({ ...limits, embedder: false })
}

function numberOf(agent: AgentDefinition, own: State): number {
  const number = own.numbers.get(agent) ?? ++own.last
  own.numbers.set(agent, number)
  return number
}
