// Which specialists a request is for, best first, decided without a model. An empty list: none of them.
import type { AgentSpec } from "#ability/agent/spec/agent-spec.ts"
import { type Ranked, rank } from "./rank.ts"

export function route(input: string, specs: readonly AgentSpec[]): Ranked[] {
  const agents = specs.map(({ name, description, keywords, cannotDo }) => ({
    id: name,
    name,
    domain: "general",
    capabilities: [],
    metadata: { description, keywords: [...keywords], cannotDo: [...cannotDo] },
  }))
  return rank({ input, agents, rules: [] })
}
