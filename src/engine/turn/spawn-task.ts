// Runs a task that one agent gives to another, in a session of its own, and returns the answer. A task has no more rights
// than its parent, ends with its parent, and its cost is added to the parent.

import type { AgentDefinition } from "#ability/agent/agent.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { familyModel } from "#engine/model/choose-model.ts"
import { keep } from "#engine/record/append.ts"
import { remoteText } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { type Run, refuseCost } from "#engine/run/run.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import * as Message from "#knowledge/message/message.ts"
import { errorText, NamedError } from "#util/error.ts"

type Task = { task: string; agent?: string; callId: string; step?: string }

const maxDepth = 3
const maxAtOnce = 10

class TaskFailed extends NamedError {
  constructor(sessionId: string, cause: unknown) {
    const message = `The subtask (session ${sessionId}) failed: ${errorText(cause)}`
    super("Session.TaskFailed", message, { sessionId }, { cause })
  }
}

export function spawnTask(run: Run, task: Task): Promise<{ sessionId: string; text: string }> {
  const done = doTask(run, task)
  // An interrupted parent does not wait for the call, so it must wait for the task here.
  keep(
    run.progress.records,
    done.catch(() => {}),
  )
  return done
}

/** The text of an answer for readers that see nothing else: another agent, or a client of `vitamin mcp serve`. A cut answer
 * reads like a complete one, so it ends with a note that says so. */
export function answerText(message: Message.Info): string {
  const reason = Message.cutReason(message)
  return `${Message.textOf(message)}${reason ? `\n[${reason}]` : ""}`
}

async function doTask(run: Run, { task, agent: name, callId, step }: Task) {
  if (run.depth >= maxDepth)
    throw new NamedError(
      "Session.TooDeep",
      `Subtasks go at most ${maxDepth} levels deep. Do this part yourself.`,
      { maxDepth },
    )
  const agent = name === undefined ? run.agent : await SessionRecord.chooseAgent(name)
  const leave = await enter(run)
  try {
    // Earlier tasks may have spent the whole budget.
    refuseCost(run)
    const taskOf = { sessionId: run.session.id, callId, ...(step ? { step } : {}) }
    const { id: sessionId } =
      (await openRemoteTask(agent, task, taskOf)) ??
      (await SessionRecord.create({
        agent: agent.id,
        model: await modelFor(run, agent),
        mode: run.session.mode,
        taskOf,
      }))
    try {
      const { signal, limits } = run
      const answer = await run.prompt({ sessionId, text: task, parent: run, signal, ...limits }, run.timing)
      return { sessionId, text: answerText(answer) }
    } catch (error) {
      throw new TaskFailed(sessionId, error)
    } finally {
      const { usage, changed = [] } = await outcomeOf(sessionId)
      SessionRecord.addUsage(run.progress.totals, usage)
      run.progress.records.changed = new Set([...(run.progress.records.changed ?? []), ...changed])
      // What a task has done counts for the guards of its parent too.
      const { guards } = run.progress.tasks.runs.get(sessionId)?.progress ?? {}
      if (guards) run.progress.guards?.addTask(callId, guards.takeResults())
      run.progress.tasks.runs.delete(sessionId)
    }
  } finally {
    leave()
  }
}

/** The session of the same task for a remote agent, if the agent may still be working on it: this process was killed, or
 * the agent was out of reach. */
async function openRemoteTask(
  { id }: AgentDefinition,
  task: string,
  taskOf: NonNullable<SessionRecord.Info["taskOf"]>,
): Promise<SessionRecord.Info | undefined> {
  if (!AgentRegistry.remoteOf(id)) return undefined
  refuseInGuest(`The remote agent "${id}"`)
  const found = (await SessionRecord.list({ tasks: true })).find(
    ({ agent, taskOf: other, remote, status }) =>
      agent === id &&
      other?.sessionId === taskOf.sessionId &&
      (status === "interrupted" || status === "error") &&
      remote?.isOpen &&
      remote.text === remoteText(task),
  )
  return found && SessionRecord.update(found, (draft) => Object.assign(draft, { taskOf }))
}

async function outcomeOf(
  sessionId: string,
): Promise<{ usage: Message.Usage; changed?: string[] | undefined }> {
  try {
    return await SessionRecord.get(sessionId)
  } catch (error) {
    // The session may have been removed meanwhile, by a person or with its parent.
    if (error instanceof SessionRecord.NotFound) return { usage: { input: 0, output: 0 } }
    throw error
  }
}

/** The parent's model, unless another agent names its own. */
async function modelFor(run: Run, agent: AgentDefinition): Promise<string> {
  const named = agent.id === run.agent.id ? undefined : agent.model
  const own = named && (await familyModel(named))
  return own || `${run.chosen.providerId}/${run.chosen.modelId}`
}

/** Takes one of a few slots; waits in order if all are taken. Returns the function that frees it. */
async function enter({ progress: { tasks }, signal }: Run): Promise<() => void> {
  const leave = () => {
    const next = tasks.waiting.shift()
    if (next) next()
    else tasks.running--
  }
  if (tasks.running >= maxAtOnce) await new Promise<void>((resolve) => tasks.waiting.push(resolve))
  else tasks.running++
  if (!signal.aborted) return leave
  leave()
  throw signal.reason
}
