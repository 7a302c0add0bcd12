// Answers a prompt for which `auto` chooses the agent. A specialist that rejects the prompt hands it over to the next one that
// fits, and at last to the default agent.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { chooseModel } from "#engine/model/choose-model.ts"
import { nextAgent } from "#engine/orchestrator/choose-agent.ts"
import { rejectionOf } from "#engine/orchestrator/delegate.ts"
import { append, lastId } from "#engine/record/append.ts"
import type { Offer, Run, Work } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"
import { complete, settle } from "./begin-run.ts"
import { loop } from "./loop.ts"

/** `run`: with the agent that gave the answer. */
export async function answerOf(first: Run, work: Work): Promise<{ run: Run; answer: Message.Info }> {
  const rejected = new Set<string>()
  for (let run = first; ; ) {
    const answer = await loop(run)
    const isSpecialist = AgentRegistry.specs().some(({ name }) => name === run.agent.id)
    const rejection = rejectionOf(run.agent.id, Message.textOf(answer))
    if (!rejection || !isSpecialist) return { run, answer }
    rejected.add(run.agent.id)
    const agent = await nextAgent(run.session.id, { prompt: run.intent, rejection, rejected })
    if (!agent) return { run, answer }
    addNote(run, agent.id)
    run = await withAgent(work, run, agent)
  }
}

/** The same prompt for another agent, which sees the history so far. */
async function withAgent(work: Work, run: Run, agent: AgentDefinition): Promise<Run> {
  const { session, progress, signal, prompt } = run
  const chosen = await chooseModel(agent, work.model, session.model)
  const offer: Offer = { tools: [], version: 0 }
  // It depends on the agent and its model.
  delete progress.limit
  return complete(settle(work, { session, progress, signal, agent, chosen, offer, prompt }), offer)
}

/** A request must not end with an answer, and the next agent must not take the rejection for its own. */
function addNote(run: Run, next: string): void {
  const { id: sessionId, branch } = run.session
  const text = `${run.agent.id} rejected this request. You are ${next}, and the request is yours now. Answer it.`
  const data = {
    role: "system" as const,
    parts: [{ type: "text" as const, text }],
    origin: { kind: "agent", name: next },
  }
  append(run, Message.make({ sessionId, parentId: lastId(run), branch, type: "text", data }))
}
