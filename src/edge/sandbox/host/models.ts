// Asks models for a guest: only those that its prompt was settled on. Keys stay here, and the cost is counted here.
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Provider from "#ability/provider/provider.ts"
import { streamModel } from "#ability/provider/stream-model.ts"
import { encodeBytes } from "#edge/sandbox/wire/bytes.ts"
import { Choose, type Prompt, Stream } from "#edge/sandbox/wire/doors.ts"
import { toWire } from "#edge/sandbox/wire/wire-error.ts"
import { usageOf } from "#engine/model/ask-model.ts"
import { type Chosen, chooseModel, namedModel } from "#engine/model/choose-model.ts"
import type * as SessionRecord from "#engine/record/session-record.ts"
import { CostLimit } from "#engine/run/run.ts"
import { modelRequest } from "./model-request.ts"
import { Refused } from "./refused.ts"

type Send = (parts: { stream: number; parts: unknown[] }) => void

/** Answers at the same time: the cost of each is known only at its end. */
const mostStreams = 16
/** Characters of a token, to estimate the cost of an answer that has not ended. */
const tokenLength = 4
const imageLength = 6_000

export function createModelDoors(options: {
  session: SessionRecord.Info
  model: string | undefined
  maxCost: number | undefined
}) {
  const { session, model, maxCost } = options
  const settled = new Map<string, Chosen>()
  /** Answers that have not ended, with estimates of their cost. */
  const open = new Set<{ cost: number }>()
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

  /** Chooses the model that the guest will ask for, while it loads its code. Not if nobody named one: people are told which
   * one is chosen then. */
  async function chooseAhead(id: string): Promise<Prompt["model"]> {
    const names = [model, session.model]
    try {
      await AgentRegistry.load()
      if (!(await namedModel(AgentRegistry.get(id), ...names))) return null
      const asked = { agent: id, names: names.map((name) => name ?? null) }
      return { asked, chosen: await choose(asked) }
    } catch {
      // The guest gets the error when it asks.
      return null
    }
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
    if (open.size >= mostStreams) throw new Refused("more answers at the same time")
    const spent = open.values().reduce((sum, answer) => sum + answer.cost, cost)
    if (maxCost !== undefined && spent > maxCost) throw new CostLimit(spent, maxCost)
    const asked = modelRequest(options)
    const answer = { cost: maxCost === undefined ? 0 : estimate(options, chosen.facts?.cost?.input) }
    open.add(answer)
    let hasBegun = false
    try {
      const reader = await streamModel(chosen.model, { ...asked, abortSignal: signal })
      hasBegun = true
      await passOn(reader, (parts) => {
        for (const part of parts)
          if (part.type === "finish") answer.cost = usageOf(part.usage, chosen.facts).cost ?? 0
          else if ("delta" in part) answer.cost += estimate(part.delta, chosen.facts?.cost?.output)
        send({ stream, parts: parts.map(plain) })
      })
    } finally {
      open.delete(answer)
      // An answer that the guest cancels has no report, but a price. A request that failed has none.
      if (hasBegun || signal.aborted) cost += answer.cost
    }
  }

  return Object.freeze({ choose, chooseAhead, stream, isSettled: (name: string) => settled.has(name) })
}

/** Passes on what has come in one go. */
async function passOn(
  reader: Awaited<ReturnType<typeof streamModel>>,
  take: (parts: LanguageModelV4StreamPart[]) => void,
): Promise<void> {
  let parts: LanguageModelV4StreamPart[] = []
  let soon: NodeJS.Immediate | undefined
  const flush = () => {
    clearImmediate(soon)
    soon = undefined
    if (parts.length) take(parts)
    parts = []
  }
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parts.push(read.value)
      soon ??= setImmediate(flush)
    }
  } finally {
    flush()
    void reader.cancel().catch(() => {})
  }
}

/** Dollars for a request or a text. The bytes of an image are not its tokens. */
function estimate(value: unknown, price = 0): number {
  const text = JSON.stringify(value, (name, item) =>
    name === "data" && typeof item === "string" ? item.slice(0, imageLength) : item,
  )
  return ((text.length / tokenLength) * price) / 1e6
}

function plain(part: LanguageModelV4StreamPart): unknown {
  return part.type === "error" ? { type: "error", error: toWire(part.error) } : encodeBytes(part)
}
