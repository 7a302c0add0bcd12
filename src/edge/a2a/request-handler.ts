// Every operation of the protocol, over the stored tasks and those that this process works on.
import { basename } from "node:path"
import {
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-js/sdk"
import {
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors"
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import { createId } from "#util/id.ts"
import { agentCard } from "./agent-card.ts"
import { followTask } from "./follow-task.ts"
import * as LiveTasks from "./live-tasks.ts"
import { checkHistoryLength, isStopped, isTerminal, stateOf, taskUpdate, withHistory } from "./objects.ts"
import { type Prompt, promptOf, withoutBytes } from "./prompt-of.ts"
import { checkConfig, withConfig } from "./push-notifications.ts"
import { type Live, type Serving, statusOf } from "./task-changes.ts"
import * as TaskRecord from "./task-record.ts"

const maxDepth = 4

type Taken<P> = { message: Message; prompt: P; push: TaskPushNotificationConfig | undefined }

/** `url`: where clients reach the server. */
export function createRequestHandler(serving: Serving, url: () => string): A2ARequestHandler {
  const card = (project?: string) =>
    agentCard({ agents: serving.agent.capabilities(), url: url(), ...(project ? { project } : {}) })

  async function sendMessage(request: SendMessageRequest): Promise<Task> {
    const live = await take(serving, request)
    if (!request.configuration?.returnImmediately) await LiveTasks.untilStopped(live)
    return withHistory(live.task, request.configuration)
  }

  async function* sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const live = await take(serving, request)
    yield* followTask(live, {
      ends: isStopped,
      signal: signalOf(context),
      historyLength: request.configuration?.historyLength,
    })
  }

  async function* resubscribe(
    { id }: { id: string },
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { task } = await findTask(id)
    if (isTerminal(stateOf(task)))
      throw new UnsupportedOperationError(`Task ${id} has ended; GetTask returns it.`)
    const live = LiveTasks.find(id)
    if (live) yield* followTask(live, { ends: isTerminal, signal: signalOf(context) })
    else yield taskUpdate(task)
  }

  async function cancelTask({ id }: { id: string }): Promise<Task> {
    const { record, task } = await findTask(id, "member")
    if (isTerminal(stateOf(task)))
      throw new TaskNotCancelableError(`Task ${id} has ended and cannot be canceled.`)
    const live = LiveTasks.find(id)
    if (!live && TaskRecord.isElsewhere(record))
      throw new TaskNotCancelableError(`Another process works on task ${id}; its server can cancel it.`)
    if (!live)
      return (await TaskRecord.update({ ...task, status: statusOf(TaskState.TASK_STATE_CANCELED) })).task
    await LiveTasks.cancel(live)
    if (stateOf(live.task) === TaskState.TASK_STATE_CANCELED) return live.task
    throw new TaskNotCancelableError(`Task ${id} ended before it could be canceled.`)
  }

  async function createPush(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    await findTask(config.taskId, "member")
    const checked = await checkConfig(config, { taskId: config.taskId, rules: serving.rules })
    await TaskRecord.changePush(config.taskId, (push) => withConfig(push, checked))
    return checked
  }

  async function getPush({
    taskId,
    id,
  }: {
    taskId: string
    id: string
  }): Promise<TaskPushNotificationConfig> {
    const { record } = await findTask(taskId)
    const found = record.push.find((config) => config.id === id)
    if (!found) throw new TaskNotFoundError(`Task ${taskId} has no push configuration ${JSON.stringify(id)}.`)
    return found
  }

  async function deletePush({ taskId, id }: { taskId: string; id: string }): Promise<void> {
    await findTask(taskId, "member")
    await TaskRecord.changePush(taskId, (push) => push.filter((config) => config.id !== id))
  }

  return {
    getAgentCard: async () => card(),
    getAuthenticatedExtendedAgentCard: async () => card(basename(Instance.worktree)),
    sendMessage,
    sendMessageStream,
    resubscribe,
    cancelTask,
    getTask: async ({ id, historyLength }) => withHistory((await findTask(id)).task, { historyLength }),
    async listTasks(request) {
      checkHistoryLength(request)
      const { tasks, ...page } = await TaskRecord.list(request, {
        isLive,
        isVisible: (id) => isAllowed(id, "reader"),
      })
      return { ...page, tasks: tasks.map((task) => withHistory(task, request)) }
    },
    createTaskPushNotificationConfig: createPush,
    getTaskPushNotificationConfig: getPush,
    async listTaskPushNotificationConfigs({ taskId }) {
      return { configs: (await findTask(taskId)).record.push, nextPageToken: "" }
    },
    deleteTaskPushNotificationConfig: deletePush,
  }
}

/** The task that a message begins, answers or continues. */
async function take(serving: Serving, request: SendMessageRequest): Promise<Live> {
  const prompt = promptOf(request.message)
  const message = request.message!
  const agent = skillOf(serving, request)
  depthOf(message)
  checkHistoryLength(request.configuration)
  const push = request.configuration?.taskPushNotificationConfig
  const checked = push && (await checkConfig(push, { taskId: message.taskId, rules: serving.rules }))
  if (message.taskId) return continueTask(serving, { message, prompt, push: checked })
  return createTask(serving, { message, prompt: { ...prompt, ...(agent ? { agent } : {}) }, push: checked })
}

async function createTask(
  serving: Serving,
  { message, prompt, push }: Taken<Prompt & { agent?: string }>,
): Promise<Live> {
  const id = createId("task")
  const contextId = message.contextId || createId("ctx")
  const known = await TaskRecord.sessionOf(contextId)
  if (known !== undefined && !(await isAllowed(known, "member")))
    throw new UnsupportedOperationError(`The context ${JSON.stringify(contextId)} belongs to somebody else.`)
  const sessionId = known ?? (await beginContext(contextId, { message, agent: prompt.agent }))
  const task: Task = {
    id,
    contextId,
    status: statusOf(TaskState.TASK_STATE_SUBMITTED),
    artifacts: [],
    history: [withoutBytes({ ...message, taskId: id, contextId })],
    metadata: { sessionId },
  }
  await TaskRecord.create({ sessionId, task, push: push ? [{ ...push, taskId: id }] : [] })
  return LiveTasks.start(serving, { task, sessionId }, prompt)
}

async function beginContext(
  contextId: string,
  { message, agent }: { message: Message; agent: string | undefined },
): Promise<string> {
  const metadata = { a2aDepth: depthOf(message) }
  const { id } = await Session.create({ metadata, ...(agent ? { agent } : {}) })
  const sessionId = await TaskRecord.claimContext(contextId, id)
  if (sessionId !== id) await Session.remove(id)
  return sessionId
}

async function continueTask(serving: Serving, { message, prompt, push }: Taken<Prompt>): Promise<Live> {
  const { taskId, contextId } = message
  const { record, task } = await findTask(taskId, "member")
  if (contextId && contextId !== task.contextId)
    throw new RequestMalformedError(
      `Task ${taskId} belongs to another context than ${JSON.stringify(contextId)}.`,
    )
  if (isTerminal(stateOf(task)))
    throw new UnsupportedOperationError(
      `Task ${taskId} has ended. Send the message with its contextId alone to begin another task.`,
    )
  if (push) await TaskRecord.changePush(taskId, (all) => withConfig(all, push))
  const live = LiveTasks.find(taskId)
  if (live) {
    await LiveTasks.send(live, { message, prompt })
    return live
  }
  if (TaskRecord.isElsewhere(record))
    throw new UnsupportedOperationError(`Another process works on task ${taskId}.`)
  const history = [...task.history, withoutBytes({ ...message, contextId: task.contextId })]
  const { interrupted: _, ...metadata } = task.metadata ?? {}
  const continued = { ...task, status: statusOf(TaskState.TASK_STATE_SUBMITTED), history, metadata }
  return LiveTasks.start(serving, { task: continued, sessionId: record.sessionId }, prompt)
}

/** How many agents have passed the task on. Two that give every task back to each other must come to an end. */
function depthOf({ metadata }: Message): number {
  const depth = Number(metadata?.depth ?? 0)
  if (depth >= 0 && depth <= maxDepth) return depth
  throw new UnsupportedOperationError(`A task can be passed on ${maxDepth} times.`)
}

/** The agent that a client chose: `skill` in the metadata of the message or of the request. */
function skillOf({ agent }: Serving, { message, metadata }: SendMessageRequest): string | undefined {
  const skill: unknown = message?.metadata?.skill ?? metadata?.skill
  if (skill === undefined) return undefined
  const ids = agent.capabilities().map(({ id }) => id)
  const found = ids.find((id) => id === skill)
  if (!found) throw new RequestMalformedError(`There is no such skill. Skills: ${ids.join(", ")}`)
  return found
}

/** A task of a session that is hidden from the person counts as missing. */
async function findTask(
  id: string,
  needed: "reader" | "member" = "reader",
): Promise<{ record: TaskRecord.TaskRecord; task: Task }> {
  if (!id.trim()) throw new RequestMalformedError("The id of the task is missing.")
  const record = await TaskRecord.find(id)
  if (!record || !(await isAllowed(record.sessionId, needed)))
    throw new TaskNotFoundError(`Task ${JSON.stringify(id.slice(0, 200))} does not exist.`)
  const live = LiveTasks.find(id)
  return { record, task: live ? live.task : TaskRecord.shown(record, false) }
}

/** The owner may also see tasks whose session is gone. */
async function isAllowed(sessionId: string, needed: "reader" | "member"): Promise<boolean> {
  if (!Person.limited()) return true
  return Session.getFor(sessionId, needed).then(
    () => true,
    () => false,
  )
}

function isLive(id: string): boolean {
  return LiveTasks.find(id) !== undefined
}

/** Aborted when the client leaves the stream. */
function signalOf({ state }: ServerCallContext): AbortSignal {
  return state.get("signal") as AbortSignal
}
