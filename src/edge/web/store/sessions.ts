// The sessions that the page knows, and the questions that wait for an answer. There may be many sessions: each view reads
// those that it shows, and events add those that are used.
import { batch, signal } from "@preact/signals"
import {
  ClientError,
  type ElicitationRequest,
  type PermissionRequest,
  type Session,
  type StreamEvent,
} from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { attempt } from "./problems.ts"

export type Question =
  | { kind: "permission"; directory: string; request: PermissionRequest }
  | { kind: "form"; directory: string; request: ElicitationRequest }
/** Reads the sessions of a view again. `apply` is called with the sessions in place. */
export type Reader = () => Promise<{ sessions: readonly Session[]; apply?(): void }>

export const byId = signal<ReadonlyMap<string, Session>>(new Map())
export const questions = signal<readonly Question[]>([])
/** The open views have these. */
export const readers = new Set<Reader>()
/** How often everything was read again. An answer to an earlier request may be older than the events that were missed. */
export let loads = 0
/** Tasks of tasks. */
const maxDepth = 50

export function findSession(id: string): Session | undefined {
  return byId.value.get(id)
}

/** The sessions that do the task of a call, the oldest first. */
export function tasksOf(sessionId: string, callId: string): Session[] {
  return [...byId.value.values()]
    .filter(({ taskOf }) => taskOf?.sessionId === sessionId && taskOf.callId === callId)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The session itself, or the one that it does a task for, directly or not. */
export function isPartOf(id: string, whole: string): boolean {
  for (let at: string | undefined = id, steps = 0; at !== undefined && steps < maxDepth; steps++) {
    if (at === whole) return true
    at = byId.value.get(at)?.taskOf?.sessionId
  }
  return false
}

/** Of sessions that were removed: an answer about one may come later. */
const removed = new Set<string>()
/** Sessions that were read, or that events brought, since everything was last read again. */
const fresh = new Set<string>()

export function putSession(session: Session): void {
  const known = fresh.has(session.id) ? byId.value.get(session.id) : undefined
  if (removed.has(session.id) || (known && known.time.updated > session.time.updated)) return
  fresh.add(session.id)
  byId.value = new Map(byId.value).set(session.id, session)
}

/** Adds sessions of an answer. Events may have brought a newer record of one. */
export function addSessions(found: readonly Session[]): void {
  const isNews = ({ id, time }: Session) => !fresh.has(id) || findSession(id)!.time.updated < time.updated
  const added = found.filter((session) => !removed.has(session.id) && isNews(session))
  byId.value = new Map([...byId.value, ...added.map((session) => [session.id, session] as const)])
  for (const { id } of added) fresh.add(id)
}

/** Events that come while everything is read. They are applied again: what was read may be older than they are. */
const meanwhile: StreamEvent[] = []
let reading = 0

/** Reads everything again: at first, and after events were missed. What is no longer there goes. */
export async function loadSessions(): Promise<void> {
  const turn = ++loads
  reading++
  fresh.clear()
  meanwhile.length = 0
  try {
    const [open, ...parts] = await Promise.all([
      clientFor().listQuestions(),
      ...[...readers].map((read) => read()),
    ])
    // A later call reads everything once more.
    if (turn !== loads) return
    batch(() => {
      for (const { sessions } of parts) {
        for (const { id } of sessions) removed.delete(id)
        addSessions(sessions)
      }
      byId.value = new Map([...byId.value].filter(([id]) => fresh.has(id)))
      questions.value = open
      for (const { apply } of parts) apply?.()
    })
    for (const event of meanwhile) apply(event)
    await Promise.all(open.map(loadAsking))
  } finally {
    if (--reading === 0) meanwhile.length = 0
  }
}

/** A session that asks is listed, however old it is; for a task, also the session that gave it. */
async function loadAsking({ request }: Question): Promise<void> {
  for (let id = request.sessionId, steps = 0; id !== undefined && steps < maxDepth; steps++) {
    if (!findSession(id)) await readSession(id)
    id = findSession(id)?.taskOf?.sessionId
  }
}

async function readSession(id: string): Promise<void> {
  try {
    putSession(await clientFor().getSession({ id }))
  } catch (error) {
    // It was removed meanwhile.
    if (!(error instanceof ClientError && error.status === 404)) throw error
  }
}

export function applyToSessions(event: StreamEvent): void {
  if (event.type === "gap" || event.type === "connected") {
    // A server that was restarted no longer waits for answers, and publishes no event about it.
    if (event.type === "gap" || event.isResumed) attempt(loadSessions)
    return
  }
  if (reading) meanwhile.push(event)
  apply(event)
}

function apply(event: StreamEvent): void {
  switch (event.type) {
    case "session.created":
      // An import brings one back.
      removed.delete(event.payload.session.id)
      putSession(event.payload.session)
      break
    case "session.updated":
      putSession(event.payload.session)
      break
    case "session.removed":
      removeSession(event.payload.sessionId)
      break
    case "permission.requested":
      addQuestion({ kind: "permission", directory: event.directory, request: event.payload })
      break
    case "elicitation.requested":
      addQuestion({ kind: "form", directory: event.directory, request: event.payload })
      break
    case "permission.replied":
    case "elicitation.replied":
      dropQuestion(event.payload.id)
  }
}

/** It was answered. */
export function dropQuestion(id: string): void {
  questions.value = questions.value.filter(({ request }) => request.id !== id)
}

export function removeSession(id: string): void {
  removed.add(id)
  fresh.delete(id)
  const next = new Map(byId.value)
  next.delete(id)
  byId.value = next
}

function addQuestion(question: Question): void {
  dropQuestion(question.request.id)
  questions.value = [...questions.value, question]
  attempt(() => loadAsking(question))
}
