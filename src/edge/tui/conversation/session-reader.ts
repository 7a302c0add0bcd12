// Reads the session that is shown: when it is opened, and again after events were missed. Events that come meanwhile wait,
// so that nothing is lost between what is stored and what follows, and nothing is shown twice.
import type { Client, Session, StreamEvent } from "#client/client.ts"
import type { Question } from "#edge/tui/question/questions.ts"
import { maxLoaded } from "#edge/tui/transcript/loaded-messages.ts"
import { todosOf } from "#edge/tui/transcript/plan-lines.ts"
import type { Transcript } from "#edge/tui/transcript/transcript.ts"
import { type Conversation, isWorking } from "./conversation.ts"
import { endLostTurn } from "./end-lost-turn.ts"

type Options = {
  client: Client
  talk: Conversation
  transcript: Pick<Transcript, "load" | "catchUp">
  /** Shows these questions and no others. */
  showQuestions(open: Question[]): void
  apply(event: StreamEvent): void
  report(error: unknown): void
}

export function createSessionReader({ client, talk, transcript, showQuestions, apply, report }: Options) {
  const { promise: connected, resolve: setConnected } = Promise.withResolvers<void>()
  const held: StreamEvent[] = []
  let reading = 0
  let last: Promise<unknown> = Promise.resolve()
  /** Events were missed, and what they told could not be read yet. */
  let isBehind = false
  let isConnected = false

  function take(event: StreamEvent): void {
    // What happens before a late connection must be read.
    if (event.type === "disconnected" && !isConnected) isBehind = true
    if (event.type === "connected") {
      isConnected = true
      setConnected()
    }
    if (event.type === "connected" || event.type === "disconnected") talk.follow()
    held.push(event)
    applyHeld()
  }

  function applyHeld(): void {
    while (reading === 0 && held.length) {
      const event = held.shift()!
      apply(event)
      if (event.type === "gap") isBehind = true
      const isResumed = event.type === "connected" && event.isResumed
      if (isBehind && (event.type === "gap" || event.type === "connected")) void catchUp().catch(report)
      else if (isResumed) void readQuestions().catch(report)
    }
  }

  /** One after the other. */
  function hold<T>(work: () => Promise<T>): Promise<T> {
    reading++
    const done = last.then(work).finally(() => {
      reading--
      applyHeld()
    })
    last = done.catch(() => {})
    return done
  }

  /** Without an id: the next prompt begins a new session. */
  function open(id: string | undefined): Promise<void> {
    const before = talk.session?.id
    if (before && before !== id)
      void client.leaveSession({ id: before, reason: id === undefined ? "clear" : "resume" }).catch(report)
    return hold(async () => {
      if (id === undefined) {
        talk.leave()
        return transcript.load([])
      }
      // What happened before the stream was open is read, what happens after it comes as events.
      await connected
      const { session, messages, questions, ...rest } = await read(id)
      talk.use(session, rest.tasks)
      transcript.load(messages, { isWorking: isWorking(session), ...rest })
      showQuestions(questions.filter(isOurs))
    })
  }

  function catchUp(): Promise<void> {
    return hold(async () => {
      const id = talk.session?.id
      const [{ session, tasks, messages, questions }, prompts] = await Promise.all([
        id === undefined ? nothing(client) : read(id),
        id === undefined ? [] : client.listPrompts({ id }),
      ])
      isBehind = false
      if (session) talk.catchUp({ session, tasks, messages, prompts })
      transcript.catchUp(messages, tasks)
      showQuestions(questions.filter(isOurs))
      void endLostTurn({ client, talk, apply }).catch(report)
    })
  }

  /** A server that was restarted no longer waits for the answers, and publishes no event about it. */
  function readQuestions(): Promise<void> {
    return hold(async () => showQuestions((await openQuestions(client)).filter(isOurs)))
  }

  function isOurs({ request }: Question): boolean {
    return request.sessionId === undefined || talk.isOurs(request.sessionId)
  }

  async function read(id: string) {
    const session = await client.getSession({ id })
    const [messages, all, plan, questions] = await Promise.all([
      client.listMessages({ id, last: String(maxLoaded) }),
      isWorking(session) ? client.listSessions({ tasks: true }) : [],
      client.getPlan({ id }),
      openQuestions(client),
    ])
    return { session, messages, questions, tasks: tasksOf(id, all), plan: todosOf(plan) }
  }

  return Object.freeze({ take, open })
}

async function nothing(client: Client) {
  return { session: undefined, tasks: [], messages: [], questions: await openQuestions(client) }
}

async function openQuestions(client: Client): Promise<Question[]> {
  const [permissions, elicitations] = await Promise.all([client.listPermissions(), client.listElicitations()])
  return [
    ...permissions.map((request) => ({ kind: "permission" as const, request })),
    ...elicitations.map((request) => ({ kind: "elicitation" as const, request })),
  ]
}

/** The sessions that work on tasks of this one, or on tasks of those; each after the one that it works for. */
function tasksOf(id: string, all: readonly Session[]): Session[] {
  const own = all.filter((one) => one.taskOf?.sessionId === id && isWorking(one))
  return own.flatMap((one) => [one, ...tasksOf(one.id, all)])
}
