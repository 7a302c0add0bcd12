// The loop: ask the model, store its answer, run its calls, and repeat until an answer has no call.

import { isDeepStrictEqual } from "node:util"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { nestedRules } from "#engine/context/nested-rules.ts"
import { addNotes } from "#engine/context/notes.ts"
import { growTools } from "#engine/offer/tools-for.ts"
import { takeSteering } from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { type Run, refuseCost, StepLimit, type Work } from "#engine/run/run.ts"
import type * as Message from "#knowledge/message/message.ts"
import { addPrompt } from "./add-prompt.ts"
import { runCalls } from "./run-calls.ts"
import { runTurn } from "./turn.ts"

/** Returns the final answer of the model, or of a remote agent. */
export async function loop(run: Run): Promise<Message.Info> {
  const remote = AgentRegistry.remoteOf(run.agent.id)
  if (remote) return (await import("./remote-turn.ts")).remoteTurn(run, remote)
  const { maxSteps } = run.limits
  for (let step = 1; step <= maxSteps; step++) {
    for (let work = steering(run); work; work = steering(run)) await addJoining(run, work)
    const { answer, request } = await runTurn(run)
    if (!request) {
      if (run.progress.guards && (await import("./guards.ts")).holdBack(run, answer)) continue
      return answer
    }
    refuseCost(run)
    await runCalls(run, request)
    run.signal.throwIfAborted()
    addNotes(run, await nestedRules(run, request))
    await growTools(run)
    // Calls can cost money too: tasks for other agents.
    refuseCost(run)
  }
  throw new StepLimit(maxSteps)
}

/** A steering prompt ends with this one, so its record must be released here. */
async function addJoining(run: Run, prompt: Work): Promise<void> {
  try {
    await addPrompt(run, prompt)
  } catch (error) {
    if (prompt.stored) await StoredPrompt.release(prompt.stored, { signal: run.signal, error })
    throw error
  }
}

/** A prompt that joins gets the agent, rules and limits of the running one, so it must not bring others. */
function steering({ session, settings }: Run): Work | undefined {
  const names = Object.keys(settings) as (keyof typeof settings)[]
  return takeSteering<Work>(session.id, (work) =>
    names.every((name) => work[name] === undefined || isDeepStrictEqual(work[name], settings[name])),
  )
}
