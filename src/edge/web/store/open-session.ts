// The session that a view shows: the loaded part of its messages, the answer that is streaming, what running calls print,
// and the prompts that wait. Events that come while messages are read wait, so that nothing is lost or shown twice.
import { batch, computed, signal } from "@preact/signals"
import {
  type Client,
  ClientError,
  type Message,
  type Session,
  type StreamEvent,
  type ToolResultMessage,
} from "#client/client.ts"
import { clientFor, isMissingFolder } from "#edge/web/base/api.ts"
import { listen } from "./live.ts"
import { report } from "./problems.ts"
import { createSessionTasks } from "./session-tasks.ts"
import { findSession, putSession } from "./sessions.ts"
import { createStreamedAnswer } from "./streamed-answer.ts"
import { createWaitingPrompts } from "./waiting-prompts.ts"

export type Note = { id: number; after: string | undefined; text: string }
export type OpenSession = ReturnType<typeof openSession>

/** Messages that are read at once. */
const pageSize = 100
const maxNotes = 200
/** Of a running call, the end is shown. */
const maxProgress = 20_000
/** Controls that change which messages belong to the branch. */
const turningPoints = new Set(["revert", "redo", "branch_switch"])

export function openSession(first: Session) {
  const { id, directory } = first
  const client: Client = clientFor(directory)
  const messages = signal<readonly Message[]>([])
  /** The number of the first message. It falls when earlier ones are read, so the number of a message never changes. */
  const firstNumber = signal(0)
  /** By the id of the call. */
  const results = computed(() => resultsOf(messages.value))
  const hasEarlier = signal(false)
  const isRead = signal(false)
  /** Why it could not be read. */
  const problem = signal<{ text: string; isRemoved: boolean } | undefined>(undefined)
  /** The folder was deleted: the session can only be read, through the folder of the server. */
  const isFolderGone = signal(false)
  const prompts = createWaitingPrompts(client, id)
  const notes = signal<readonly Note[]>([])
  const progress = signal<ReadonlyMap<string, string>>(new Map())
  const answer = createStreamedAnswer()
  const held: StreamEvent[] = []
  let reading = 0
  let noted = 0
  const tasks = createSessionTasks(id)
  /** The page may no longer know it: it keeps what was read last. */
  let lastRead = first

  const stopListening = listen((event) => {
    held.push(event)
    applyHeld()
  })

  function applyHeld(): void {
    while (reading === 0 && held.length) apply(held.shift()!)
  }

  const reader = () => (isFolderGone.value ? clientFor() : client)

  async function read(): Promise<void> {
    reading++
    try {
      const [session, newest, waiting] = await readAll()
      lastRead = session
      putSession(session)
      takeNewest(newest)
      prompts.reset(waiting, newest)
      // Of a server that was killed, an answer without an end stays; nothing streams any more.
      answer.reset(newest, { isWorking: session.status === "busy" || session.status === "waiting" })
      isRead.value = true
      problem.value = undefined
    } catch (error) {
      const isRemoved = error instanceof ClientError && error.status === 404
      problem.value = { text: (error as Error).message, isRemoved }
    } finally {
      reading--
      applyHeld()
    }
  }

  async function readAll() {
    const from = (one: Client) =>
      Promise.all([
        one.getSession({ id }),
        one.listMessages({ id, last: String(pageSize) }),
        one.listPrompts({ id }),
      ])
    const found = await from(client).catch((error) => {
      if (!isMissingFolder(error)) throw error
      return undefined
    })
    isFolderGone.value = found === undefined
    return found ?? from(clientFor())
  }

  /** What was read earlier stays, if it leads to the newest messages. */
  function takeNewest(newest: readonly Message[]): void {
    const [oldest] = newest
    const at = messages.value.findIndex((one) => one.id === oldest?.id)
    batch(() => {
      if (at < 0) firstNumber.value = 0
      messages.value = [...messages.value.slice(0, Math.max(0, at)), ...newest]
      hasEarlier.value = messages.value.length > 0 && messages.value[0]!.parentId !== null
    })
  }

  let earlier: Promise<void> | undefined
  function loadEarlier(isAll: boolean): Promise<void> {
    earlier ??= readEarlier(isAll).finally(() => {
      earlier = undefined
    })
    return earlier
  }

  /** A page that is being read does not count as all. */
  async function loadAll(): Promise<void> {
    while (hasEarlier.value) await loadEarlier(true)
  }

  async function readEarlier(isAll: boolean): Promise<void> {
    const [oldest] = messages.value
    if (!oldest || !hasEarlier.value) return
    const range = isAll ? {} : { last: String(pageSize) }
    const before = await reader().listMessages({ id, before: oldest.id, ...range })
    if (messages.value[0]?.id !== oldest.id) return
    const found = before.filter((one) => one.id !== oldest.id)
    batch(() => {
      firstNumber.value -= found.length
      messages.value = [...found, ...messages.value]
      hasEarlier.value = found.length > 0 && found[0]!.parentId !== null
    })
  }

  function apply(event: StreamEvent): void {
    if (event.type === "gap" || (event.type === "connected" && event.isResumed)) void read()
    else if ("payload" in event && (event.payload as { sessionId?: string }).sessionId === id) applyOwn(event)
  }

  function applyOwn(event: Extract<StreamEvent, { payload: object }>): void {
    switch (event.type) {
      case "message.created":
      case "message.updated":
        addMessage(event.payload.message)
        break
      case "message.delta":
        answer.add(event.payload)
        break
      case "tool.progress":
        addProgress(event.payload)
        break
      case "session.idle":
        answer.end()
        break
      case "session.error":
        answer.end()
        prompts.drop(event.payload.promptId)
        break
      case "prompt.skipped":
        prompts.drop(event.payload.prompt.id)
    }
    const text = noteOf(event)
    if (text !== undefined) addNote(text)
  }

  function addMessage(message: Message): void {
    prompts.drop(message.promptId)
    if (message.type === "system_control" && turningPoints.has(message.data.control)) {
      void read()
      return
    }
    if (message.type === "tool_result") dropProgress(message.data.requestId)
    answer.take(message)
    const all = messages.value
    const known = all.findLastIndex((one) => one.id === message.id)
    if (known >= 0) {
      messages.value = all.with(known, message)
      return
    }
    // Ids sort in the order of the conversation. A message is published when it is on disk, perhaps after one that follows.
    let at = all.length
    while (at > 0 && all[at - 1]!.id > message.id) at--
    if (at === 0 && all.length) return
    messages.value = all.toSpliced(at, 0, message)
  }

  function addProgress({ callId, text }: { callId: string; text: string }): void {
    const printed = ((progress.value.get(callId) ?? "") + text).slice(-maxProgress)
    progress.value = new Map(progress.value).set(callId, printed)
  }

  function dropProgress(callId: string): void {
    if (!progress.value.has(callId)) return
    const rest = new Map(progress.value)
    rest.delete(callId)
    progress.value = rest
  }

  function addNote(text: string): void {
    const note = { id: ++noted, after: messages.value.at(-1)?.id, text }
    notes.value = [...notes.value, note].slice(-maxNotes)
  }

  void read()
  return Object.freeze({
    id,
    directory,
    client,
    /** Its record, as it changes. */
    session: () => findSession(id) ?? lastRead,
    messages,
    firstNumber,
    results,
    hasEarlier,
    isRead,
    problem,
    isFolderGone,
    read,
    prompts: prompts.shown,
    notes,
    progress,
    answer: answer.shown,
    loadEarlier: () => loadEarlier(false).catch(report),
    loadAll: () => loadAll().catch(report),
    send: prompts.send,
    stop: () => client.abortSession({ id }),
    withdraw: prompts.withdraw,
    loadTasks: tasks.load,
    close() {
      stopListening()
      tasks.close()
    },
  })
}

function resultsOf(messages: readonly Message[]): ReadonlyMap<string, ToolResultMessage> {
  return new Map(messages.flatMap((one) => (one.type === "tool_result" ? [[one.data?.requestId, one]] : [])))
}

/** What a person should know of an event, beside what it changes. */
function noteOf(event: StreamEvent): string | undefined {
  switch (event.type) {
    case "prompt.skipped":
      return `A prompt did not run: ${event.payload.prompt.reason}`
    case "session.error":
      return event.payload.error.message
    case "session.notice":
      return event.payload.text
    case "session.retry":
      return `${event.payload.provider} failed (${event.payload.reason}); trying again.`
    case "guard.blocked":
      return `The guard "${event.payload.guard}" blocked ${event.payload.action}: ${event.payload.reason}`
    default:
      return undefined
  }
}
