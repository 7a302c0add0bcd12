// All relations of a session: its plan, the files that it changed (below the steps that were in progress then) and the
// sessions of its tasks. Files and tasks are collected from messages and session records on request. So they survive
// compaction and restarts, and cost nothing while a prompt runs.

import { isList, planIn, planNodes } from "#engine/record/plan-nodes.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { changedBy } from "#knowledge/memory/working.ts"
import * as Message from "#knowledge/message/message.ts"
import type { NodeContext } from "#knowledge/relation/relation-node.ts"
import { createRelationStore, type RelationStore } from "#knowledge/relation/relation-store.ts"
import * as Memory from "./memory.ts"
import type { Plan } from "./plan.ts"

type Made = { steps: string[]; call: Message.Call }
type Calls = {
  byId: Map<string, Made>
  /** Some models reuse call ids: a result belongs to the last call before it. */
  byResult: Map<Message.Info, Made>
}

export async function relate(sessionId: string): Promise<Plan> {
  const session = await SessionRecord.get(sessionId)
  const messages = (await Memory.shortTerm(sessionId)).messages()
  const store = createRelationStore({ initialNodes: await planNodes(sessionId, messages) })
  const root = addSession(store, session, [])
  const calls = callsIn(messages, store)
  addFiles(store, { messages, calls, root })
  const tasks = await SessionRecord.list({ tasks: true })
  const open = [session]
  for (let parent = open.shift(); parent; parent = open.shift())
    for (const task of tasks.toReversed()) {
      if (task.taskOf?.sessionId !== parent.id) continue
      const steps = parent === session ? (calls.byId.get(task.taskOf.callId)?.steps ?? []) : []
      addSession(store, task, [...steps, idOf(parent)])
      open.push(task)
    }
  return { sessionId, nodes: store.all() }
}

function addSession(store: RelationStore, session: SessionRecord.Info, parents: string[]): string {
  const { id: sessionId, title, agent } = session
  const status = statusOf(session)
  const context = { description: title || sessionId, ...(status ? { status } : {}), sessionId, agent }
  store.add({ id: idOf(session), parents, edgeType: "agent", context })
  return idOf(session)
}

/** Only tasks have a known end. */
function statusOf({ status, taskOf }: SessionRecord.Info): NodeContext["status"] {
  if (status === "busy" || status === "waiting") return "in_progress"
  if (status === "error" || status === "interrupted") return "failed"
  return taskOf ? "done" : undefined
}

/** Each call with the steps that were in progress when it was made and that the plan still has. */
function callsIn(messages: readonly Message.Info[], store: RelationStore): Calls {
  const calls: Calls = { byId: new Map(), byResult: new Map() }
  const idsOf = createStepIds(store)
  let steps: string[] = []
  for (const message of messages) {
    if (isList(message)) steps = idsOf(message)
    if (message.type === "tool_request")
      for (const call of message.data.calls) calls.byId.set(call.id, { steps, call })
    const made = message.type === "tool_result" && calls.byId.get(message.data.requestId)
    if (made) calls.byResult.set(message, made)
  }
  return calls
}

/** Steps without an id are found by their text: their numbers may have changed since. */
function createStepIds(store: RelationStore) {
  const byText = new Map(store.byEdgeType("step").map(({ id, context }) => [context.description, id]))
  return (list: Message.Info): string[] =>
    planIn([list])
      .filter(({ edgeType, context }) => edgeType === "step" && context.status === "in_progress")
      .map(({ id, context }) => (store.has(id) && !id.startsWith("#") ? id : byText.get(context.description)))
      .filter((id) => id !== undefined)
}

function addFiles(
  store: RelationStore,
  { messages, calls, root }: { messages: readonly Message.Info[]; calls: Calls; root: string },
): void {
  const files = new Map<string, { steps: Set<string>; changes: number }>()
  for (const message of messages) {
    const made = calls.byResult.get(message)
    if (!made || message.type !== "tool_result" || message.data.status !== "success") continue
    for (const path of pathsOf(message.data, made.call)) {
      const file = files.get(path) ?? { steps: new Set(), changes: 0 }
      for (const step of made.steps) file.steps.add(step)
      file.changes++
      files.set(path, file)
    }
  }
  for (const [path, { steps, changes }] of files) {
    const parents = steps.size ? [...steps] : [root]
    store.add({ id: `file:${path}`, parents, edgeType: "file", context: { description: path, changes } })
  }
}

/** Tools that change one file name it. The changes of other tools are in their snapshots. */
function pathsOf(result: Message.Of<"tool_result">["data"], call: Message.Call): string[] {
  const { toolName } = result
  if (toolName !== "write" && toolName !== "edit") return changedBy(call)
  const { path } = (Message.dataOf(result) ?? {}) as { path?: unknown }
  return typeof path === "string" ? [path] : []
}

function idOf({ id }: SessionRecord.Info): string {
  return `agent:${id}`
}
