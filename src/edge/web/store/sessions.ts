// The sessions of all folders that the server knows, and the questions that wait for an answer in them.
import { computed, signal } from "@preact/signals"
import type { ElicitationRequest, PermissionRequest, Session, StreamEvent } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { attempt } from "./problems.ts"

export type Question =
  | { kind: "permission"; directory: string; request: PermissionRequest }
  | { kind: "form"; directory: string; request: ElicitationRequest }

const byId = signal<ReadonlyMap<string, Session>>(new Map())
export const isLoaded = signal(false)
export const questions = signal<readonly Question[]>([])
/** The last used first; without those of tasks. */
export const sessions = computed(() =>
  [...byId.value.values()]
    .filter(({ taskOf }) => !taskOf)
    .sort((a, b) => b.time.updated - a.time.updated || (a.id < b.id ? 1 : -1)),
)
export const folders = computed(() => [...new Set(sessions.value.map(({ directory }) => directory))])

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
  for (let at: string | undefined = id, steps = 0; at !== undefined && steps < 50; steps++) {
    if (at === whole) return true
    at = byId.value.get(at)?.taskOf?.sessionId
  }
  return false
}

/** Of sessions that were removed: an answer about one may come later. */
const removed = new Set<string>()

export function putSession(session: Session): void {
  const known = byId.value.get(session.id)
  if (removed.has(session.id) || (known && known.time.updated > session.time.updated)) return
  byId.value = new Map(byId.value).set(session.id, session)
}

/** Events that come while everything is read: what was read may be older than they are. */
const held: StreamEvent[] = []
let reading = 0

/** Reads everything again: at first, and after events were missed. */
export async function loadSessions(): Promise<void> {
  reading++
  try {
    const all = await clientFor().listSessions({ everywhere: true, tasks: true })
    byId.value = new Map(all.map((session) => [session.id, session]))
    for (const { id } of all) removed.delete(id)
    isLoaded.value = true
    await loadQuestions(all)
  } finally {
    reading--
    applyHeld()
  }
}

/** Only folders with running work can have questions; other folders are not opened for it. A folder that cannot be opened, as
 * one that was deleted, has none that could be answered. */
async function loadQuestions(all: readonly Session[]): Promise<void> {
  const working = all.filter(({ status }) => status === "busy" || status === "waiting")
  const found = await Promise.allSettled(
    [...new Set(working.map(({ directory }) => directory))].map(questionsOf),
  )
  questions.value = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []))
}

async function questionsOf(directory: string): Promise<Question[]> {
  const client = clientFor(directory)
  const [permissions, forms] = await Promise.all([client.listPermissions(), client.listElicitations()])
  return [
    ...permissions.map((request) => ({ kind: "permission" as const, directory, request })),
    ...forms.map((request) => ({ kind: "form" as const, directory, request })),
  ]
}

export function applyToSessions(event: StreamEvent): void {
  held.push(event)
  applyHeld()
}

function applyHeld(): void {
  while (reading === 0 && held.length) apply(held.shift()!)
}

function apply(event: StreamEvent): void {
  switch (event.type) {
    case "gap":
      attempt(loadSessions)
      break
    case "connected":
      // A server that was restarted no longer waits for answers, and publishes no event about it.
      if (event.isResumed) attempt(loadSessions)
      break
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
  const next = new Map(byId.value)
  next.delete(id)
  byId.value = next
}

function addQuestion(question: Question): void {
  const others = questions.value.filter(({ request }) => request.id !== question.request.id)
  questions.value = [...others, question]
}
