// The tokens of an answer, and their cost if the price is known.
import type { LanguageModelV4Usage } from "@ai-sdk/provider"
import type * as Provider from "#ability/provider/provider.ts"
import type * as Message from "#knowledge/message/message.ts"

export function usageOf(usage: LanguageModelV4Usage | undefined, facts?: Provider.ModelFacts): Message.Usage {
  const input = usage?.inputTokens.total ?? 0
  const output = usage?.outputTokens.total ?? 0
  const cacheRead = usage?.inputTokens.cacheRead ?? 0
  const cacheWrite = usage?.inputTokens.cacheWrite ?? 0
  const reasoning = usage?.outputTokens.reasoning ?? 0
  const price = facts?.cost
  const plain = Math.max(0, input - cacheRead - cacheWrite)
  const cost = price
    ? (plain * price.input +
        output * price.output +
        cacheRead * (price.cacheRead ?? price.input) +
        cacheWrite * (price.cacheWrite ?? price.input)) /
      1e6
    : undefined
  return {
    input,
    output,
    ...(reasoning ? { reasoning } : {}),
    ...(cacheRead ? { cacheRead } : {}),
    ...(cacheWrite ? { cacheWrite } : {}),
    ...(cost === undefined ? {} : { cost }),
  }
}
