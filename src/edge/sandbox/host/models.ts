// Asks models for a guest: only those that its prompt was settled on. Keys stay here, and the cost is counted here.
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Provider from "#ability/provider/provider.ts"
import { streamModel } from "#ability/provider/stream-model.ts"
import { decodeBytes, encodeBytes } from "#edge/sandbox/wire/bytes.ts"
import { Choose, Stream } from "#edge/sandbox/wire/doors.ts"
import { toWire } from "#edge/sandbox/wire/wire-error.ts"
import { usageOf } from "#engine/model/ask-model.ts"
import { type Chosen, chooseModel } from "#engine/model/choose-model.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import { CostLimit } from "#engine/run/run.ts"
import { Refused } from "./refused.ts"

type Send = (parts: { stream: number; parts: unknown[] }) => void

/** What may be sent to a model. Headers and tools that a provider runs are not the guest's to choose. */
const Options = z.object({
  prompt: z.array(z.looseObject({ role: z.string() })),
  tools: z.array(z.looseObject({ type: z.literal("function"), name: z.string() })).optional(),
  toolChoice: z.looseObject({ type: z.string() }).optional(),
  maxOutputTokens: z.number().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  seed: z.number().optional(),
  reasoning: z.string().optional(),
  responseFormat: z.looseObject({ type: z.string() }).optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
})

export function createModelDoors(options: {
  session: SessionRecord.Info
  model: string | undefined
  maxCost: number | undefined
}) {
  const { session, model, maxCost } = options
  const settled = new Map<string, Chosen>()
  let cost = 0

  async function choose(args: unknown): Promise<Provider.RemoteModel> {
    const { agent: id, names } = Choose.parse(args)
    await AgentRegistry.load()
    const agent = id === null ? undefined : AgentRegistry.get(id)
    const wanted = names.map((name) => name ?? undefined)
    for (const name of wanted) if (name !== undefined) refuseUnknown(name)
    const chosen = await chooseModel(agent, ...wanted)
    const { providerId, modelId, isFallback } = chosen
    settled.set(`${providerId}/${modelId}`, chosen)
    return { ...Provider.targetOf(providerId, modelId), isFallback }
  }

  /** A guest cannot name a model of its own: only those of the prompt, the session, and the agents. */
  function refuseUnknown(name: string): void {
    const known = [
      model,
      session.model,
      session.fallbackModel,
      ...AgentRegistry.list().map((agent) => agent.model),
    ]
    if (!settled.has(name) && !known.includes(name)) throw new Refused(`the model ${JSON.stringify(name)}`)
  }

  async function stream(args: unknown, signal: AbortSignal, send: Send): Promise<void> {
    const { stream, model, options } = Stream.parse(args)
    const chosen = settled.get(model)
    if (!chosen) throw new Refused(`the model ${JSON.stringify(model)}`)
    if (maxCost !== undefined && cost > maxCost) throw new CostLimit(cost, maxCost)
    const asked = decodeBytes(Options.parse(options)) as LanguageModelV4CallOptions
    const reader = await streamModel(chosen.model, { ...asked, abortSignal: signal })
    let parts: unknown[] = []
    let soon: NodeJS.Immediate | undefined
    const flush = () => {
      clearImmediate(soon)
      soon = undefined
      if (parts.length) send({ stream, parts })
      parts = []
    }
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        const part = read.value
        if (part.type === "finish") cost += usageOf(part.usage, chosen.facts).cost ?? 0
        parts.push(plain(part))
        soon ??= setImmediate(flush)
      }
    } finally {
      flush()
      void reader.cancel().catch(() => {})
    }
  }

  return Object.freeze({ choose, stream, isSettled: (name: string) => settled.has(name) })
}

function plain(part: LanguageModelV4StreamPart): unknown {
  return part.type === "error" ? { type: "error", error: toWire(part.error) } : encodeBytes(part)
}
