// The nodes of a relation store: their public form, and the errors about invalid ones.
import { inspect } from "node:util"
import { NamedError } from "#util/error.ts"

export const statuses = ["pending", "in_progress", "done", "failed"] as const

export type NodeContext = {
  description: string
  status?: (typeof statuses)[number]
  [key: string]: unknown
}

export type RelationNode = {
  id: string
  /** A node may have several, but none of them below itself. */
  parents: string[]
  /** "plan", "step", "file", "agent", or any other word. */
  edgeType: string
  context: NodeContext
  createdAt: number
}

export class InvalidNode extends NamedError {
  constructor(id: unknown, reason: string) {
    super("RelationStore.InvalidNode", `Node ${shown(id)} cannot be kept: ${reason}.`, { id })
  }
}

export class NodeExists extends NamedError {
  constructor(id: string) {
    super("RelationStore.NodeExists", `Node "${id}" exists already. update() changes its content.`, { id })
  }
}

export class NodeNotFound extends NamedError {
  constructor(id: string) {
    super("RelationStore.NodeNotFound", `Node "${id}" does not exist.`, { id })
  }
}

export class UnknownParent extends NamedError {
  constructor(id: string, parent: string) {
    super(
      "RelationStore.UnknownParent",
      `Node "${id}" names the parent "${parent}", which does not exist. Add parents first.`,
      { id, parent },
    )
  }
}

/** `path` leads from a node over its parents back to it. */
export class Cycle extends NamedError {
  constructor(path: string[]) {
    const [id] = path
    const way = path.map((one) => `"${one}"`).join(" → ")
    super("RelationStore.Cycle", `Node "${id}" would be its own ancestor: ${way}.`, { id, path })
  }
}

/** Why a value is not a valid node; undefined if it is. */
export function problemOf(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null) return "it is not an object"
  const { id, parents, edgeType, context } = node as Partial<RelationNode>
  if (typeof id !== "string" || id === "") return "its id is not a text"
  if (!Array.isArray(parents)) return "its parents are not a list"
  for (const parent of parents) if (typeof parent !== "string") return "a parent is not named by a text"
  if (typeof edgeType !== "string") return "its edgeType is not a text"
  return contextProblem(context)
}

export function contextProblem(context: unknown): string | undefined {
  if (typeof context !== "object" || context === null) return "its context is not an object"
  const { description, status } = context as Partial<NodeContext>
  if (typeof description !== "string") return "its description is not a text"
  if (status === undefined || statuses.includes(status)) return undefined
  return `its status is ${shown(status)}, and not one of ${statuses.join(", ")}`
}

/** Any value as text; JSON would throw for some. */
function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : inspect(value, { depth: 0, compact: true })
}
