// Adapts a request to its provider and model: messages, tools, the reasoning level, the output limit, cache marks.
// Parts that need no change are passed on as they are, because a long conversation comes through here at every turn.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import type { ModelFacts } from "#ability/provider/catalog/catalog.ts"
import type { Quirks, Wire } from "#ability/provider/reach/providers.ts"
import { normalizeMessages } from "./normalize-messages.ts"
import { limitSchema } from "./tool-schema.ts"

/** `sessionId` lets OpenAI find its prompt cache again. */
export type Request = {
  providerId: string
  modelId: string
  prompt: LanguageModelV4CallOptions["prompt"]
  tools?: LanguageModelV4FunctionTool[]
  sessionId?: string
} & Pick<
  LanguageModelV4CallOptions,
  | "toolChoice"
  | "responseFormat"
  | "temperature"
  | "maxOutputTokens"
  | "reasoning"
  | "abortSignal"
  | "headers"
>

/** The model that the request is for. `known`: the facts are the model's own, not defaults. */
export type Target = {
  providerId: string
  modelId: string
  facts: ModelFacts
  known: boolean
  wire: Wire
  quirks: Quirks
}

type Level = Exclude<LanguageModelV4CallOptions["reasoning"], "provider-default" | undefined>
type Options = Pick<LanguageModelV4CallOptions, "reasoning" | "providerOptions">
type Wanted = {
  reasoning?: LanguageModelV4CallOptions["reasoning"]
  sessionId?: string | undefined
  isFormatted: boolean
}
type Tool = LanguageModelV4FunctionTool

type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>

const limited = new WeakMap<Tool, Partial<Record<Wire, Tool>>>()

/** The default output limit. Answers are rarely longer, and some providers count the limit against the quota per minute. */
const usualOutput = 32_000
/** The output limit of a model whose own limit is unknown. */
const unknownOutput = 16_384

export function transformRequest(request: Request, target: Target): LanguageModelV4CallOptions {
  const {
    providerId: _,
    modelId: __,
    sessionId,
    tools,
    temperature,
    reasoning,
    responseFormat,
    ...rest
  } = request
  const limit = outputLimit(request, target)
  const isFormatted = takesFormat(responseFormat, target)
  const options: LanguageModelV4CallOptions = {
    ...rest,
    prompt: normalizeMessages(request.prompt, target),
    ...reasoningOptions({ reasoning, sessionId, isFormatted }, target),
    ...(tools?.length && target.facts.tools
      ? { tools: tools.map((tool) => limitTool(tool, target.wire)) }
      : {}),
    ...(temperature !== undefined && target.facts.temperature ? { temperature } : {}),
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    ...(isFormatted ? { responseFormat } : {}),
  }
  return target.wire === "messages" || isClaudeOnBedrock(target) ? markCache(options, target.wire) : options
}

/** Other models on Bedrock refuse the marks. */
function isClaudeOnBedrock({ wire, modelId }: Target): boolean {
  return wire === "converse" && modelId.includes("claude")
}

/** OpenAI's responses API takes a schema for an object beside tools. Elsewhere, the system prompt alone has the schema: the
 * other APIs either refuse it beside tools, or know only "some JSON". */
function takesFormat(format: Request["responseFormat"], { wire }: Target): boolean {
  return wire === "responses" && format?.type === "json" && format.schema?.type === "object"
}

/** Adapts the schema of a tool to the provider. The result is cached for frozen tools, which come with every request. */
function limitTool(tool: Tool, wire: Wire): Tool {
  const known = limited.get(tool)
  const changed = known?.[wire] ?? { ...tool, inputSchema: limitSchema(tool.inputSchema, wire) }
  if (Object.isFrozen(tool) && !known?.[wire]) limited.set(tool, { ...known, [wire]: changed })
  return changed
}

/** Tokens of the window to reserve for the answer. If the model's limit is unknown, or as large as the window, that is at
 * most a quarter of the window. */
export function outputBudget(
  { context, output }: Pick<ModelFacts, "context" | "output">,
  wanted?: number,
): number {
  const isKnown = output > 0 && output < context
  const share = isKnown || wanted !== undefined ? 2 : 4
  const most = Math.min(output > 0 ? output : unknownOutput, Math.floor(context / share))
  return Math.max(1, Math.min(wanted ?? usualOutput, most))
}

/** The output limit to send: what the caller wants, but at most the model's limit. If the caller wants none, none is
 * sent to OpenAI's responses API, nor to a model with an unknown limit: the server then uses the rest of the window.
 * Anthropic's API requires one. */
function outputLimit({ maxOutputTokens }: Request, { facts, known, wire }: Target): number | undefined {
  if (!known) return maxOutputTokens
  if (facts.output > 0 && maxOutputTokens !== undefined) return Math.min(maxOutputTokens, facts.output)
  if (maxOutputTokens !== undefined || wire === "responses") return maxOutputTokens
  return facts.output > 0 || wire === "messages" ? outputBudget(facts) : undefined
}

/** Sets cache breakpoints for Anthropic: after the tools, the system prompt and the last message. These are three of the
 * four that a request may have. */
function markCache(options: LanguageModelV4CallOptions, wire: Wire): LanguageModelV4CallOptions {
  const mark = wire === "converse" ? markPoint : markControl
  const prompt = [...options.prompt]
  const system = prompt.findLastIndex(({ role }) => role === "system")
  const last = prompt.findLastIndex(({ role }) => role === "user" || role === "tool")
  if (system >= 0) prompt[system] = mark(prompt[system]!)
  if (last >= 0) prompt[last] = markLastPart(prompt[last]!, mark)
  return { ...options, prompt, ...(options.tools ? { tools: markLastTool(options.tools, mark) } : {}) }
}

type Mark = typeof markControl

function markLastTool(tools: Tools, mark: Mark): Tools {
  return tools.map((tool, i) => (i === tools.length - 1 && tool.type === "function" ? mark(tool) : tool))
}

/** The next request begins with the same messages, so it finds the cache up to this part. */
function markLastPart(message: LanguageModelV4Message, mark: Mark): LanguageModelV4Message {
  if (message.role !== "user" && message.role !== "tool") return message
  const content = [...message.content]
  const last = content.pop()
  return last ? ({ ...message, content: [...content, mark(last)] } as LanguageModelV4Message) : message
}

function markPoint<T extends { providerOptions?: SharedV4ProviderOptions }>(value: T): T {
  const { bedrock, ...others } = value.providerOptions ?? {}
  const marked = { ...bedrock, cachePoint: { type: "default" } }
  return { ...value, providerOptions: { ...others, bedrock: marked } }
}

function markControl<T extends { providerOptions?: SharedV4ProviderOptions }>(value: T): T {
  const { anthropic, ...others } = value.providerOptions ?? {}
  const marked = { ...anthropic, cacheControl: { type: "ephemeral" } }
  return { ...value, providerOptions: { ...others, anthropic: marked } }
}

/** Sets the reasoning level, and asks for the reasoning to be shown. The packages for Anthropic, OpenAI and Gemini
 * convert the level to an effort or a token budget. For chat completions every server has its own field. */
function reasoningOptions({ reasoning, ...wanted }: Wanted, target: Target): Options {
  const level = target.facts.reasoning && reasoning !== "provider-default" ? reasoning : undefined
  if (target.wire === "responses") return responsesOptions(level, wanted)
  if (target.wire === "gemini") return geminiOptions(level, target)
  if (target.wire === "messages" || target.wire === "converse") return level ? { reasoning: level } : {}
  const body = level ? chatBody(level, target.quirks.effort) : {}
  return Object.keys(body).length > 0 ? { providerOptions: { [target.providerId]: body } } : {}
}

/** Nothing is stored at OpenAI, so reasoning is returned encrypted and sent back with the next request. */
function responsesOptions(
  level: Level | undefined,
  { sessionId, isFormatted }: Pick<Wanted, "sessionId" | "isFormatted">,
): Options {
  return {
    ...(level ? { reasoning: level } : {}),
    providerOptions: {
      openai: {
        store: false,
        // The strict form knows only a part of JSON Schema, and refuses the rest.
        ...(isFormatted ? { strictJsonSchema: false } : {}),
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
  if (effort === "openai") return { reasoning_effort: level === "max" ? "xhigh" : level }
  if (effort === "openrouter") return { reasoning: { effort: level === "max" ? "xhigh" : level } }
  if (effort === "thinking") return { thinking: { type: on ? "enabled" : "disabled" } }
  if (effort === "enable") return { enable_thinking: on }
  return on ? { reasoning_effort: threeLevels(level) } : {}
}

function threeLevels(level: Level): "low" | "medium" | "high" {
  if (level === "minimal" || level === "low") return "low"
  return level === "medium" ? "medium" : "high"
}
