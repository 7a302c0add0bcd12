// Chooses the agent of a prompt for the agent `auto`, and reports the choice with its reasons.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { AgentChosen } from "#engine/record/notice.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { activeSpecs } from "./active-specs.ts"

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
