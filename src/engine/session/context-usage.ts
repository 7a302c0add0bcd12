// What fills the model's window in a session.
import * as Provider from "#ability/provider/provider.ts"
import { readInstructions } from "#engine/context/instructions.ts"
import { systemPrompt } from "#engine/context/system-prompt.ts"
import { namedModel } from "#engine/model/choose-model.ts"
import { sentBefore } from "#engine/offer/choose-tools.ts"
import { usableTools } from "#engine/offer/tools-for.ts"
import { peekHistory } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { contextOf, limitOf } from "#engine/run/budget.ts"
import { createShortTerm } from "#knowledge/memory/short-term.ts"
import { estimateTokens, tokensOf } from "#knowledge/memory/tokens.ts"
import { frontText } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"

/** In tokens. `window`: what the model sees at once. `limit`: what a request may have. `used`: what the next request has,
 * by the provider's last count and an estimate of what came since. `parts` are estimates of their own. */
export type ContextUsage = {
  model?: string
  window: number
  limit: number
  used: number
  parts: { system: number; rules: number; tools: number; summary: number } & Counts
  free: number
}
type Counts = { conversation: number; calls: number; files: number }

export async function contextUsage(sessionId: string): Promise<ContextUsage> {
  const session = await SessionRecord.get(sessionId)
  const agent = await SessionRecord.chooseAgent(undefined, session.agent)
  const { model, chosen } = await modelOf(session, agent)
  const limit = limitOf(chosen, agent.maxTokens)
  const { tools } = sentBefore(session, { usable: await usableTools(session, agent), limit })
  const isTask = session.taskOf !== undefined
  const prompt = estimateTokens(await systemPrompt(agent, { isTask, mode: session.mode, grounding: [] }))
  const rules = sum(
    (await readInstructions()).map(({ title, text }) => estimateTokens(`${title}:\n\n${text}`)),
  )
  const memory = createShortTerm()
  for (const message of await peekHistory(session)) memory.append(message)
  const shown = memory.shown()
  const summary = shown.compaction ? estimateTokens(frontText(shown.compaction)) : 0
  const hasFront = Boolean(shown.compaction?.summary || shown.compaction?.pinned)
  const parts = {
    system: Math.max(0, prompt - rules),
    rules,
    tools: sum(tools.map((tool) => estimateTokens(JSON.stringify(tool)))),
    summary: hasFront ? summary : 0,
    ...countKinds(hasFront ? shown.sent.slice(1) : shown.sent),
  }
  const fixed = parts.system + parts.rules + parts.tools
  const used = memory.tokenCount({ fixed, ...(model === undefined ? {} : { model }) })
  const window = contextOf(chosen?.facts)
  return { ...(model ? { model } : {}), window, limit, used, parts, free: Math.max(0, limit - used) }
}

/** The facts of the model, without asking for it: a model without a key has a window too. */
async function modelOf(session: SessionRecord.Info, agent: Parameters<typeof namedModel>[0]) {
  const model = (await namedModel(agent, session.model)) ?? session.fallbackModel
  if (model === undefined) return {}
  await Provider.load()
  const [, providerId = "", modelId = ""] = /^([^/]+)\/(.+)$/s.exec(model) ?? []
  const facts = Provider.facts(providerId, modelId)
  return { model, chosen: { providerId, ...(facts ? { facts } : {}) } }
}

function countKinds(messages: readonly Message.Info[]): Counts {
  const counts: Counts = { conversation: 0, calls: 0, files: 0 }
  for (const message of messages) counts[kindOf(message)] += tokensOf(message)
  return counts
}

function kindOf({ type }: Message.Info): keyof Counts {
  if (type === "tool_request" || type === "tool_result") return "calls"
  return type === "file_reference" || type === "image" || type === "mcp_resource" ? "files" : "conversation"
}

function sum(numbers: number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
