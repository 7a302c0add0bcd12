// The relations of a session, as its plan shows them.
import type { Plan } from "#client/client.ts"

export type PlanNode = {
  id: string
  parents: string[]
  kind: string
  text: string
  state: string
  /** The session of a task. */
  sessionId?: string | undefined
  agent?: string | undefined
}

const kinds: Record<string, string> = { agent: "task", plan: "plan", step: "step", file: "file" }

/** Without the session itself, unless something hangs on it. A node that names a parent twice, itself, or one that does not
 * exist has one edge less. */
export function nodesOf({ sessionId, nodes }: Plan): PlanNode[] {
  const own = `agent:${sessionId}`
  const known = new Map(nodes.map(({ id, edgeType }) => [id, edgeType]))
  const isUsed = nodes.some(({ id, parents }) => id !== own && parents.includes(own))
  const seen = new Set<string>()
  return nodes.flatMap(({ id, parents, edgeType, context }) => {
    if (seen.has(id) || (id === own && !isUsed)) return []
    seen.add(id)
    return {
      id,
      parents: shortest(
        [...new Set(parents)].filter((parent) => parent !== id && known.has(parent)),
        known,
      ),
      kind: id === own ? "session" : (kinds[edgeType] ?? edgeType),
      text: String(context.description ?? ""),
      state: context.status ?? "",
      ...(id !== own && typeof context.sessionId === "string" ? { sessionId: context.sessionId } : {}),
      ...(typeof context.agent === "string" ? { agent: context.agent } : {}),
    }
  })
}

/** A step that waits for others is below the plan through them. */
function shortest(parents: string[], kindOf: ReadonlyMap<string, string>): string[] {
  const steps = parents.filter((parent) => kindOf.get(parent) !== "plan")
  return steps.length ? steps : parents
}

const words: Record<string, string> = {
  pending: "○ pending",
  in_progress: "◐ in progress",
  done: "● done",
  failed: "✗ failed",
}

export function stateWords({ state, kind }: PlanNode): string {
  return words[state] ?? kind
}
