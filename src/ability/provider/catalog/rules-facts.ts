// The facts of the built-in model, in a file of their own so that a list of models does not load its rules.
import type { ModelFacts } from "./catalog.ts"

export const rulesFacts: ModelFacts = {
  provider: "local",
  id: "rules",
  name: "Built-in offline rules",
  context: 1_000_000,
  output: 100_000,
  cost: { input: 0, output: 0 },
  tools: true,
  reasoning: false,
  temperature: false,
  input: ["text"],
}
