// `save_knowledge` records a fact with its source. `graph_search` and `graph_show` read the stored relations of sessions: plans
// and their steps.
import { join } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import * as TodoList from "#ability/plan/todo-list.ts"
import { Instance } from "#kernel/instance.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { storeFolder } from "#knowledge/grounding/store-folder.ts"
import { visibleSessions } from "#knowledge/grounding/visible-sessions.ts"
import { significantWords } from "#knowledge/index/significant-words.ts"
import { createRelationStore } from "#knowledge/relation/relation-store.ts"
import { NamedError } from "#util/error.ts"
import { refuseSecrets } from "./find-credential.ts"
import * as Notes from "./notes.ts"
import * as Sources from "./sources.ts"

const Save = z.strictObject({
  fact: z.string().min(1).max(20_000),
  source: z.string().min(1).max(1_000),
  name: z.string().min(1).max(100).optional(),
})
const Find = z.strictObject({ text: z.string().min(1).max(500), limit: z.int().min(1).max(100).optional() })
const Show = z.strictObject({ session: z.string().min(1), node: z.string().min(1).optional() })
const usualLimit = 20
/** Sessions that are searched, the newest first. */
const maxSessions = 500

export const saveKnowledge = {
  id: "save_knowledge",
  description:
    "Record a fact with its source (path and lines, address, person), so that rag_search finds it in every later session of this project. Never a secret.",
  category: "data",
  parameters: Save,
  readOnly: false,
  onlyNamed: true,
  permission: () => [{ permission: "knowledge.write", target: "project" }],
  async execute({ fact, source, name }: z.infer<typeof Save>, { sessionId }: Context): Promise<Output> {
    refuseSecrets(fact, source, name)
    refuseInGuest("The knowledge of this project")
    const note = Notes.add(Sources.knowledgeFolder(), {
      text: fact,
      source,
      name,
      kind: "knowledge",
      session: sessionId,
    })
    return { text: `Recorded as ${note.name} (${note.date}).`, title: note.name, data: { name: note.name } }
  },
} satisfies Definition

export const graphSearch = {
  id: "graph_search",
  description:
    "Search the plans and steps of stored sessions by words. Each answer names its session and node for graph_show.",
  category: "search",
  parameters: Find,
  readOnly: true,
  onlyNamed: true,
  permission: needsStore,
  async execute({ text, limit = usualLimit }: z.infer<typeof Find>): Promise<Output> {
    refuseInGuest("The memory of earlier sessions")
    const wanted = significantWords(text, new Set())
    const found: { line: string; score: number }[] = []
    const visible = await visibleSessions()
    const sessions = (await Storage.list(["session", Instance.project.id]))
      .filter((id) => visible?.has(id) ?? true)
      .sort()
      .reverse()
      .slice(0, maxSessions)
    for (const session of sessions)
      for (const { id, edgeType, context } of await TodoList.nodes(session)) {
        const own = significantWords(context.description, new Set())
        const score = [...wanted].filter((word) => own.has(word)).length
        const state = context.status ? `, ${context.status}` : ""
        if (score)
          found.push({ score, line: `${session} ${id} (${edgeType}${state}): ${context.description}` })
      }
    const best = found.sort((a, b) => b.score - a.score).slice(0, limit)
    return {
      text: best.map(({ line }) => line).join("\n") || "No plan or step fits.",
      title: `${text} (${best.length})`,
      data: { found: best.length },
    }
  },
} satisfies Definition

export const graphShow = {
  id: "graph_show",
  description:
    "Show the plan of a session as a tree, or what is below one node and what that node waits for.",
  category: "data",
  parameters: Show,
  readOnly: true,
  onlyNamed: true,
  permission: needsStore,
  async execute({ session, node }: z.infer<typeof Show>): Promise<Output> {
    const isHidden = (await visibleSessions())?.has(session) === false
    const store = createRelationStore({ initialNodes: isHidden ? [] : await TodoList.nodes(session) })
    if (node !== undefined && !store.has(node))
      throw new NamedError(
        "Graph.NotFound",
        `Session ${JSON.stringify(session)} has no node ${JSON.stringify(node)}. Without \`node\` all are shown.`,
        { session, node },
      )
    const ids = node === undefined ? store.roots().map(({ id }) => id) : [node]
    const above =
      node === undefined
        ? []
        : store.parents(node).map(({ id, context }) => `below ${id}: ${context.description}`)
    const text = [...above, store.toContext(ids)].filter(Boolean).join("\n")
    return { text: text || "This session has no plan.", title: session, data: { nodes: store.size() } }
  },
} satisfies Definition

/** The records of sessions are outside of the workspace, as for `recall`. */
function needsStore() {
  return [{ permission: "file.read", target: join(storeFolder(), "relation") }]
}

export const knowledgeManuals = {
  save_knowledge: {
    example: { fact: "The server listens on port 4096.", source: "src/edge/server/listen.ts:12" },
    arguments: {
      fact: "What is to be found again.",
      source: "Where it comes from.",
      name: "Name of the entry; without it the first words.",
    },
    limits: "Asked for once in a session. A text with a secret is refused.",
  },
  graph_search: {
    example: { text: "release" },
    arguments: { text: "Words to look for.", limit: `Nodes to show; without it ${usualLimit}.` },
    limits: `The newest ${maxSessions} sessions with a plan.`,
  },
  graph_show: {
    example: { session: "sess_1" },
    arguments: { session: "Id of the session.", node: "Id of a node; without it the whole plan." },
    limits: "Plans only; without files and tasks.",
  },
}
