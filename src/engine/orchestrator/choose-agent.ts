// Chooses the agent of a prompt for the agent `auto`, and the next one after a rejection. Reports each choice with its reasons.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import type { Rejection } from "#ability/agent/specialists.ts"
import { AgentChosen } from "#engine/record/notice.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { activeSpecs } from "./active-specs.ts"
import { nextFor } from "./delegate.ts"

const shownReasons = 3

/** A specialist without tools on this machine is not chosen. */
export async function chooseAgent(sessionId: string, prompt: string): Promise<AgentDefinition> {
  const { active } = activeSpecs()
  const inactive = AgentRegistry.specs().filter((spec) => !active.some(({ name }) => name === spec.name))
  const { agent, score, reasons } = await AgentRegistry.resolve(
    prompt,
    ({ id }) => !inactive.some(({ name }) => name === id),
  )
  const why = reasons.slice(0, shownReasons).map((reason) => reason.replace(/ \([+-][\d.]+\)$/, ""))
  const text = `agent ${agent.id}: ${why.join("; ")}`
  Bus.publish(AgentChosen, { sessionId, agent: agent.id, score, reasons, text })
  return agent
}

/** The agent after some have rejected the prompt: the next specialist that fits, else the default agent. Undefined if that
 * one has rejected it too. */
export async function nextAgent(
  sessionId: string,
  given: { prompt: string; rejection: Rejection; rejected: ReadonlySet<string> },
): Promise<AgentDefinition | undefined> {
  const { prompt, rejection, rejected } = given
  const next = await nextFor(prompt, rejection, (name) => !rejected.has(name))
  const agent = next ? AgentRegistry.get(next) : (await AgentRegistry.resolve(prompt, () => false)).agent
  if (rejected.has(agent.id)) return undefined
  const reasons = [`${[...rejected].at(-1)} rejected the request`]
  const text = `agent ${agent.id}: ${reasons}`
  Bus.publish(AgentChosen, { sessionId, agent: agent.id, score: 0, reasons, text })
  return agent
}
