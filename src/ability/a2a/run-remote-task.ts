// Gives a task to a remote agent and waits for its result. A connection that breaks is opened again, and a task whose
// server was restarted is continued. If the task is aborted here, it is canceled there.
import { setTimeout as sleep } from "node:timers/promises"
import { Role, type SendMessageRequest, type StreamResponse, TaskState } from "@a2a-js/sdk"
import { type Client, ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client"
import { A2AError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors"
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { plainText } from "#util/plain-text.ts"
import { orAborted } from "#util/wait.ts"
import { readCard } from "./read-card.ts"
import { createRemoteAnswer, type RemoteAnswer } from "./remote-answer.ts"
import { createRemoteFetch, type Fetch, InvalidRemote, type Remote } from "./remote-fetch.ts"

export type Ids = { taskId: string; contextId: string }
export type Order = {
  remote: Remote
  text: string
  /** How many agents have passed the task on, this one included. */
  depth: number
  signal: AbortSignal
  /** A task that an earlier process began: it is only followed. */
  resume?: Ids | undefined
  /** An open task, or only its context, that the text is a message to. */
  earlier?: Partial<Ids> | undefined
  /** Stores the ids of the task, so that it can be resumed. */
  onTask(ids: Ids): Promise<unknown>
  onProgress(line: string): void
  /** Asks the person what the agent wants to know; undefined if nobody answers. */
  ask(question: string): Promise<string | undefined>
}

type Stream = { updates: AsyncIterable<StreamResponse>; isMessage: boolean }
type Left = { continuations: number; questions: number }

export class RemoteFailed extends NamedError {
  /** `isOpen`: the task may not have ended there. */
  constructor({ name }: Remote, reason: string, { isOpen = false } = {}) {
    super("A2A.RemoteFailed", `The remote agent ${JSON.stringify(name)} ${reason}`, { name, isOpen })
  }
}

/** How often a task is continued whose server was restarted. */
const maxContinuations = 3
const maxQuestions = 50
/** Milliseconds between attempts to reach the server again: a minute in all. */
const pauses = [200, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 10_000, 15_000, 15_000]
/** Milliseconds for one of these attempts. */
const reachTimeout = 20_000
/** Milliseconds before a task is followed again. */
const pollPause = 300
const cancelTimeout = 3_000
const goOn = "Your server was restarted while you worked on this task. Continue it."

const { TASK_STATE_AUTH_REQUIRED, TASK_STATE_COMPLETED, TASK_STATE_INPUT_REQUIRED } = TaskState
const ended: Record<number, string> = {
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled the task",
  [TaskState.TASK_STATE_REJECTED]: "rejected the task",
}

/** Returns the result as text. Throws if the agent does not complete the task. `silence`: see `createRemoteFetch`. */
export async function runRemoteTask(order: Order, limits: { silence?: number } = {}): Promise<string> {
  const { remote, signal } = order
  const client = await connect(order, createRemoteFetch(remote, limits))
  const answer = createRemoteAnswer(order.onProgress)
  try {
    return await finish(order, client, answer).catch((error) => {
      const again = answer.task() ? undefined : freshOrder(order, error)
      if (!again) throw error
      return finish(again, client, answer)
    })
  } catch (error) {
    const ids = answer.task() ?? order.resume
    if (signal.aborted && ids) await cancel(client, ids)
    if (signal.aborted || error instanceof NamedError) throw error
    throw new RemoteFailed(remote, `did not answer: ${plainText(errorText(error), 1_000)}`, {
      isOpen: ids !== undefined,
    })
  }
}

/** The order without what the agent does not know any more: it forgot the task, or has ended it. */
function freshOrder(order: Order, error: unknown): Order | undefined {
  const { resume, earlier } = order
  if (error instanceof TaskNotFoundError && (resume || earlier))
    return { ...order, resume: undefined, earlier: undefined }
  if (error instanceof UnsupportedOperationError && earlier?.taskId && earlier.contextId)
    return { ...order, earlier: { contextId: earlier.contextId } }
  return undefined
}

async function connect({ remote, signal }: Order, fetch: Fetch): Promise<Client> {
  const { card, chosen } = await orAborted(readCard(remote, { fetch, signal }), signal)
  const transports = [new JsonRpcTransportFactory({ fetchImpl: fetch as typeof globalThis.fetch })]
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces: [chosen] })
}

async function finish(order: Order, client: Client, answer: RemoteAnswer): Promise<string> {
  const { remote, signal, resume } = order
  const left = { continuations: maxContinuations, questions: maxQuestions }
  const send = (text: string, ids?: Partial<Ids>) => ({
    updates: client.sendMessageStream(requestOf(order, text, ids), { signal }),
    isMessage: true,
  })
  let stream: Stream | undefined = resume ? undefined : send(order.text, order.earlier)
  for (;;) {
    const isBroken = stream && !(await follow(order, answer, stream))
    if (!stream || isBroken) await reach(order, client, answer)
    const state = answer.state()
    if (state === TASK_STATE_COMPLETED) return answer.text()
    if (ended[state])
      throw new RemoteFailed(remote, `${ended[state]}${answer.said() ? `: ${answer.said()}` : "."}`)
    if (state === TASK_STATE_AUTH_REQUIRED || state === TASK_STATE_INPUT_REQUIRED) {
      const reply = state === TASK_STATE_INPUT_REQUIRED ? await replyTo(order, answer, left) : undefined
      if (reply === undefined) {
        await cancel(client, answer.task()!)
        throw new RemoteFailed(remote, `needs something that nobody gave: ${answer.said()}`)
      }
      stream = send(reply, answer.task())
      continue
    }
    await sleep(pollPause, undefined, { signal })
    const { taskId } = answer.task()!
    stream = { updates: client.resubscribeTask({ id: taskId, tenant: "" }, { signal }), isMessage: false }
  }
}

/** Takes what a stream says until it ends. False if it broke: the agent then has to be asked where the task stands. A
 * stream that has not told the id of the task must not break: nobody knows whether the agent got the message. */
async function follow(
  { signal, onTask, remote }: Order,
  answer: RemoteAnswer,
  { updates, isMessage }: Stream,
): Promise<boolean> {
  let known = answer.task()
  try {
    for await (const update of updates) {
      answer.take(update)
      const ids = answer.task()
      if (ids && ids.taskId !== known?.taskId) await onTask(ids)
      known = ids
    }
  } catch (error) {
    signal.throwIfAborted()
    const isRefused = error instanceof InvalidRemote || (isMessage && error instanceof A2AError)
    if (!known || isRefused) throw error
    Log.info("the connection to a remote agent broke", { agent: remote.name, error: errorText(error) })
    return false
  }
  signal.throwIfAborted()
  if (!known && answer.state() !== TASK_STATE_COMPLETED) throw new Error("it ended the stream without a task")
  return true
}

/** Asks for the task until the server answers. */
async function reach({ signal, resume }: Order, client: Client, answer: RemoteAnswer): Promise<void> {
  const { taskId } = answer.task() ?? resume!
  for (let attempt = 0; ; attempt++)
    try {
      const soon = AbortSignal.any([signal, AbortSignal.timeout(reachTimeout)])
      return answer.takeTask(await client.getTask({ id: taskId, tenant: "" }, { signal: soon }))
    } catch (error) {
      signal.throwIfAborted()
      const pause = pauses[attempt]
      if (pause === undefined || error instanceof A2AError || error instanceof InvalidRemote) throw error
      await sleep(pause, undefined, { signal })
    }
}

/** A task that was only interrupted is continued without a question. */
async function replyTo({ ask }: Order, answer: RemoteAnswer, left: Left): Promise<string | undefined> {
  if (answer.isInterrupted()) return left.continuations-- > 0 ? goOn : undefined
  return left.questions-- > 0 ? ask(answer.said()) : undefined
}

/** The agent may have ended the task already, or be out of reach. */
async function cancel(client: Client, { taskId }: Ids): Promise<void> {
  const request = { id: taskId, tenant: "", metadata: undefined }
  await client
    .cancelTask(request, { signal: AbortSignal.timeout(cancelTimeout) })
    .catch((error) =>
      Log.info("a remote task could not be canceled", { task: taskId, error: errorText(error) }),
    )
}

function requestOf(
  { depth }: Order,
  text: string,
  { taskId = "", contextId = "" }: Partial<Ids> = {},
): SendMessageRequest {
  const part = {
    content: { $case: "text" as const, value: text },
    metadata: undefined,
    filename: "",
    mediaType: "text/plain",
  }
  return {
    tenant: "",
    message: {
      messageId: createId("msg"),
      contextId,
      taskId,
      role: Role.ROLE_USER,
      parts: [part],
      metadata: { depth },
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  }
}
