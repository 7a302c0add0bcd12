// `local/rules`: a language model that is none. It does simple requests by fixed rules, with the tools it is given, and
// says so where it cannot. Nothing leaves this process, and the same prompt has the same answer.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider"
import { answer } from "./answer.ts"
import { readConversation } from "./conversation.ts"
import { nextMove } from "./next-move.ts"
import { plan } from "./plan.ts"
import { talk } from "./skill/talk.ts"

type Reply = Exclude<LanguageModelV4Content, { type: "file" | "reasoning" | "source" }>[]

const usage: LanguageModelV4Usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

export function createRulesModel(): LanguageModelV4 {
  return Object.freeze({
    specificationVersion: "v4" as const,
    provider: "local.rules",
    modelId: "rules",
    supportedUrls: {},
    async doGenerate(options: LanguageModelV4CallOptions) {
      const content = reply(options)
      return { content, finishReason: finishOf(content), usage, warnings: [] }
    },
    async doStream(options: LanguageModelV4CallOptions) {
      const content = reply(options)
      const parts: LanguageModelV4StreamPart[] = [
        { type: "stream-start", warnings: [] },
        ...content.flatMap(streamed),
        { type: "finish", finishReason: finishOf(content), usage },
      ]
      return { stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> }
    },
  })
}

function reply({ prompt, tools = [], toolChoice, abortSignal }: LanguageModelV4CallOptions): Reply {
  abortSignal?.throwIfAborted()
  const { request, texts, made, subject, calls } = readConversation(prompt)
  const said = talk(request)
  if (said !== undefined) return [{ type: "text", text: said }]
  const usable =
    toolChoice?.type === "none"
      ? []
      : tools.filter((tool): tool is LanguageModelV4FunctionTool => tool.type === "function")
  const move = nextMove({ steps: plan(request, usable), made, ...(subject ? { subject } : {}) })
  if ("outcomes" in move) {
    // Where an image was all there was to go on, its text is the best answer that rules have.
    const isIdle = move.outcomes.every(({ made }) => !made.length)
    return [{ type: "text", text: isIdle && texts.length ? texts.join("\n\n") : answer(move.outcomes) }]
  }
  return move.calls.map(({ tool, args }, i) => ({
    type: "tool-call",
    toolCallId: `rules_${calls + i + 1}`,
    toolName: tool,
    input: JSON.stringify(args),
  }))
}

function finishOf(content: Reply) {
  const unified = content[0]?.type === "tool-call" ? ("tool-calls" as const) : ("stop" as const)
  return { unified, raw: undefined }
}

function streamed(part: Reply[number], i: number): LanguageModelV4StreamPart[] {
  if (part.type !== "text") return [part as LanguageModelV4StreamPart]
  const id = `text_${i}`
  const deltas = part.text.match(/[\s\S]{1,4000}/g) ?? []
  return [
    { type: "text-start", id },
    ...deltas.map((delta): LanguageModelV4StreamPart => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ]
}
