// The token budget of a request: how much of the model's window it may use.
import { z } from "zod"
import * as Provider from "#ability/provider/provider.ts"
import type { Chosen } from "#engine/model/choose-model.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import type { Offer } from "./run.ts"

/** In tokens. `limit`: the whole request. `fixed`: the part that every request has, the system prompt and the tools. */
export type Budget = { limit: number; fixed: number }

export const Compacted = Bus.define(
  "session.compacted",
  z.object({
    sessionId: z.string(),
    messageId: z.string().describe("the message that records it"),
    by: z
      .string()
      .describe(
        "how: model (the model wrote a summary), extract (vitamin extracted one), cut (only long results were cut)",
      ),
    tokensBefore: about("Estimated tokens of the history before the compaction.", z.number()),
    tokensAfter: about("Estimated tokens after it.", z.number()),
  }),
  { when: "A session was compacted: from now on the model gets less than the whole history." },
)

export class ContextFull extends NamedError {
  constructor(options: { limit: number; tokens: number; largest: string }, cause?: unknown) {
    const { limit, tokens, largest } = options
    super(
      "Session.ContextFull",
      `The request does not fit the model's window: it has about ${tokens} tokens after compaction, and the budget is ${limit}. The largest part is ${largest}. Use a model with a larger window, make that part smaller, or begin a new session.`,
      options,
      cause === undefined ? {} : { cause },
    )
  }
}

/** Assumed if the window of a model is unknown. */
const unknownContext = 128_000
/** Our estimate errs high. A provider that counts more than three times as many tokens counts something else. */
export const mostAbove = 3

/** Tokens that a model sees at once. */
export function contextOf(facts?: Pick<Provider.ModelFacts, "context">): number {
  return facts && facts.context > 0 ? facts.context : unknownContext
}

/** Tokens that a request may have. */
export function limitOf(
  chosen: Pick<Chosen, "providerId" | "facts"> | undefined,
  maxTokens?: number,
): number {
  const context = contextOf(chosen?.facts)
  const output = chosen?.facts?.output ?? 0
  const longest = takesAll(chosen?.providerId) && output > 0 ? output : undefined
  const margin = Math.min(4_000, Math.ceil(context / 25))
  return context - Provider.outputBudget({ context, output }, maxTokens ?? longest) - margin
}

/** Tokens of the part that every request has: the system prompt and the tools. */
export function fixedOf(system: string, tools: Offer["tools"]): number {
  return estimateTokens(system) + tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0)
}

/** More than `fixedOf()` can be: `estimateTokens()` counts at most two tokens per character. */
export function mostFixed(system: string, tools: Offer["tools"]): number {
  return 2 * tools.reduce((sum, tool) => sum + lengthOf(tool), system.length)
}

const lengths = new WeakMap<Offer["tools"][number], number>()

/** The length as JSON. It is cached for frozen tools, which come with every request. */
function lengthOf(tool: Offer["tools"][number]): number {
  const length = lengths.get(tool) ?? JSON.stringify(tool).length
  if (Object.isFrozen(tool)) lengths.set(tool, length)
  return length
}

/** These providers get no output limit, so the longest answer must fit into the window. */
function takesAll(providerId: string | undefined): boolean {
  return Provider.list().find(({ id }) => id === providerId)?.wire === "responses"
}
