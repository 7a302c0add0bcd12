// How much a model thinks, and what of it we see. Anthropic, OpenAI and Gemini take the level as it is: their packages
// turn it into an effort or a budget of tokens. Chat completions have as many spellings as servers.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { Quirks } from "#ability/provider/reach/providers.ts"
import type { Target } from "./transform-request.ts"

type Level = Exclude<LanguageModelV4CallOptions["reasoning"], "provider-default" | undefined>
type Options = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">
type Wanted = { reasoning?: LanguageModelV4CallOptions["reasoning"]; sessionId?: string | undefined }

export function reasoningOptions({ reasoning, sessionId }: Wanted, target: Target): Options {
  const level = target.facts.reasoning && reasoning !== "provider-default" ? reasoning : undefined
  if (target.wire === "responses") return responsesOptions(level, sessionId)
  if (target.wire === "gemini") return geminiOptions(level, target)
  if (target.wire === "messages") return level ? { reasoning: level } : {}
  const body = level ? chatBody(level, target.quirks.effort) : {}
  return Object.keys(body).length > 0 ? { providerOptions: { [optionsName(target.providerId)]: body } } : {}
}

/** Nothing is kept at OpenAI, so reasoning comes back encrypted and goes along with the next request. */
function responsesOptions(level: Level | undefined, sessionId?: string): Options {
  return {
    ...(level ? { reasoning: level } : {}),
    providerOptions: {
      openai: {
        store: false,
        ...(level && level !== "none" ? { reasoningSummary: "auto" } : {}),
        ...(sessionId ? { promptCacheKey: sessionId } : {}),
      },
    },
  }
}

function geminiOptions(level: Level | undefined, { facts }: Target): Options {
  if (!facts.reasoning) return {}
  return {
    ...(level ? { reasoning: level } : {}),
    providerOptions: { google: { thinkingConfig: { includeThoughts: level !== "none" } } },
  }
}

function chatBody(
  level: Level,
  effort: Quirks["effort"],
): Record<string, string | boolean | { [key: string]: string }> {
  const on = level !== "none"
  if (effort === "none") return {}
  if (effort === "openai") return { reasoningEffort: level === "max" ? "xhigh" : level }
  if (effort === "openrouter") return { reasoning: { effort: level === "max" ? "xhigh" : level } }
  if (effort === "thinking") return { thinking: { type: on ? "enabled" : "disabled" } }
  if (effort === "enable") return { enable_thinking: on }
  return on ? { reasoningEffort: threeLevels(level) } : {}
}

function threeLevels(level: Level): "low" | "medium" | "high" {
  if (level === "minimal" || level === "low") return "low"
  return level === "medium" ? "medium" : "high"
}

/** The package reads a provider's own options under the camel-cased first part of its name. */
function optionsName(providerId: string): string {
  return providerId.split(".")[0]!.replaceAll(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
