// The loop: ask the model, store its answer, run its calls, and repeat until an answer has no call.

import { isDeepStrictEqual } from "node:util"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as LateDiagnostics from "#ability/lsp/late-diagnostics.ts"
import { nestedRules } from "#engine/context/nested-rules.ts"
import { addNotes, type Note } from "#engine/context/notes.ts"
import { growTools } from "#engine/offer/tools-for.ts"
import { takeSteering } from "#engine/queue/queue.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { wordsOf } from "#engine/record/prompt-part.ts"
import { PromptBlocked } from "#engine/run/prompt-hooks.ts"
import { type Run, refuseCost, StepLimit, type Work } from "#engine/run/run.ts"
import type * as Message from "#knowledge/message/message.ts"
import { addPrompt, textOf } from "./add-prompt.ts"
import { runCalls } from "./run-calls.ts"
import { runTurn } from "./turn.ts"

/** Returns the final answer of the model, or of a remote agent. */
export async function loop(run: Run): Promise<Message.Info> {
  const remote = AgentRegistry.remoteOf(run.agent.id)
  if (remote) return (await import("./remote-turn.ts")).remoteTurn(run, remote)
  const {
    limits: { maxSteps },
    outputSchema,
  } = run
  for (let step = 1; step <= maxSteps; step++) {
    for (let work = steering(run); work; work = steering(run)) await addJoining(run, work)
    addNotes(run, lateDiagnostics(run))
    const { answer, request } = await runTurn(run)
    if (!request) {
      if (outputSchema && (await import("./fit-output.ts")).askAgain(run, answer, outputSchema)) continue
      if (await run.progress.hooks?.holdBack(answer)) continue
      if (run.progress.guards && (await import("./guards.ts")).holdBack(run, answer)) continue
      return answer
    }
    refuseCost(run)
    await runCalls(run, request)
    run.signal.throwIfAborted()
    run.progress.hooks?.throwIfStopped()
    addNotes(run, await nestedRules(run, request))
    await growTools(run)
    // Calls can cost money too: tasks for other agents.
    refuseCost(run)
  }
  throw new StepLimit(maxSteps)
}

function lateDiagnostics({ session }: Run): Note[] {
  const texts = LateDiagnostics.take(session.id)
  return texts.length ? [{ kind: "diagnostics", name: "late", text: texts.join("\n") }] : []
}

/** A steering prompt ends with this one, so its record must be released here. */
async function addJoining(run: Run, prompt: Work): Promise<void> {
  const { hooks } = run.progress
  try {
    await hooks?.submit(textOf(wordsOf(prompt.parts)))
    await addPrompt(run, prompt)
    hooks?.addContext()
  } catch (error) {
    if (prompt.stored) await StoredPrompt.release(prompt.stored, { signal: run.signal, error })
    // The running prompt goes on without one that a hook blocks.
    if (!(error instanceof PromptBlocked)) throw error
  }
}

/** A prompt that joins gets the agent, rules and limits of the running one, so it must not bring others. */
function steering({ session, settings }: Run): Work | undefined {
  const names = Object.keys(settings) as (keyof typeof settings)[]
  return takeSteering<Work>(session.id, (work) =>
    names.every((name) => work[name] === undefined || isDeepStrictEqual(work[name], settings[name])),
  )
}
