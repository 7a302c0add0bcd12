// Chooses the agent of a prompt for the agent `auto`, and reports the choice with its reasons.
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { Notice } from "#engine/record/notice.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"
import { activeSpecs } from "./active-specs.ts"

export const Chosen = Bus.define(
  "agent.chosen",
  z.object({
    sessionId: z.string(),
    agent: about("The chosen agent.", z.string()),
    score: about("How well it fits; 0 for the default.", z.number()),
    reasons: about("Why.", z.array(z.string())),
  }),
  { when: "The agent `auto` chose the agent of a prompt." },
)

const shownReasons = 3

/** A specialist without tools on this machine is not chosen. */
export async function chooseAgent(sessionId: string, prompt: string): Promise<AgentDefinition> {
  const { active } = activeSpecs()
  const inactive = AgentRegistry.specs().filter((spec) => !active.some(({ name }) => name === spec.name))
  const { agent, score, reasons } = await AgentRegistry.resolve(
    prompt,
    ({ id }) => !inactive.some(({ name }) => name === id),
  )
  Bus.publish(Chosen, { sessionId, agent: agent.id, score, reasons })
  const text = `agent ${agent.id}: ${reasons.slice(0, shownReasons).join("; ")}`
  Bus.publish(Notice, { sessionId, messageId: "", text })
  return agent
}
