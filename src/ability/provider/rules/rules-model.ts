// `local/rules`: the offline model, without any neural network. It handles simple requests by fixed rules and tools,
// and says so if it cannot. Nothing leaves this process, and the same prompt has the same answer.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider"
import { answer } from "./answer.ts"
import { readConversation } from "./conversation.ts"
import { isDone, nextMove } from "./next-move.ts"
import { plan } from "./plan.ts"
import { talk } from "./skill/talk.ts"

type Content = Exclude<LanguageModelV4Content, { type: "file" | "reasoning" | "source" }>[]
type Reply = { content: Content; isCannot?: boolean }

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
      const { content, isCannot } = reply(options)
      return { content, finishReason: finishOf(content, isCannot), usage, warnings: [] }
    },
    async doStream(options: LanguageModelV4CallOptions) {
      const { content, isCannot } = reply(options)
      const parts: LanguageModelV4StreamPart[] = [
        { type: "stream-start", warnings: [] },
        ...content.flatMap(streamed),
        { type: "finish", finishReason: finishOf(content, isCannot), usage },
      ]
      return { stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> }
    },
  })
}

function reply({ prompt, tools = [], toolChoice, abortSignal }: LanguageModelV4CallOptions): Reply {
  abortSignal?.throwIfAborted()
  const { request, texts, made, subject, calls } = readConversation(prompt)
  const said = talk(request)
  if (said !== undefined) return { content: [{ type: "text", text: said }] }
  const usable =
    toolChoice?.type === "none"
      ? []
      : tools.filter((tool): tool is LanguageModelV4FunctionTool => tool.type === "function")
  const move = nextMove({ steps: plan(request, usable), made, ...(subject ? { subject } : {}) })
  if ("outcomes" in move) {
    // If the request is only an image, its text is the best answer that rules have.
    const isIdle = move.outcomes.every(({ made }) => !made.length)
    if (isIdle && texts.length) return { content: [{ type: "text", text: texts.join("\n\n") }] }
    const text = answer(move.outcomes, usable)
    return { content: [{ type: "text", text }], isCannot: !move.outcomes.every(isDone) }
  }
  const content = move.calls.map(({ tool, args }, i) => ({
    type: "tool-call" as const,
    toolCallId: `rules_${calls + i + 1}`,
    toolName: tool,
    input: JSON.stringify(args),
  }))
  return { content }
}

/** Tells programs by the finish reason that something was not done. */
function finishOf(content: Content, isCannot = false): LanguageModelV4FinishReason {
  if (content[0]?.type === "tool-call") return { unified: "tool-calls", raw: undefined }
  return isCannot ? { unified: "other", raw: "cannot" } : { unified: "stop", raw: undefined }
}

function streamed(part: Content[number], i: number): LanguageModelV4StreamPart[] {
  if (part.type !== "text") return [part as LanguageModelV4StreamPart]
  const id = `text_${i}`
  const deltas = part.text.match(/[\s\S]{1,4000}/g) ?? []
  return [
    { type: "text-start", id },
    ...deltas.map((delta): LanguageModelV4StreamPart => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ]
}
