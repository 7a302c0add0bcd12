// Formats relations for a model: a tree with one line for each node, below its first parent.
import type { RelationNode } from "./relation-node.ts"

type Row = { node: RelationNode; depth: number }

const marks: Record<string, string> = { pending: "[ ]", in_progress: "[>]", done: "[x]", failed: "[!]" }
/** Limits: characters of a description, levels of indentation, and named steps that are done. */
const most = { description: 500, depth: 12, done: 10 }

/** Nodes whose first parent is not among them are at the top level. */
export function formatRelationsForContext(nodes: readonly RelationNode[]): string {
  const shown = new Set(nodes.map(({ id }) => id))
  return rowsOf(nodes)
    .map(({ node, depth }) => {
      const { status } = node.context
      const others = node.parents.filter((id) => shown.has(id)).slice(1)
      const also = others.length ? ` (also below ${others.map(oneLine).join(", ")})` : ""
      return `${indent(depth)}${oneLine(node.id)}: ${textOf(node)}${status ? ` [${status}]` : ""}${also}`
    })
    .join("\n")
}

/** Plans with their steps: the progress, the open steps and what they wait for, the done steps in one line. */
export function formatPlanContext(nodes: readonly RelationNode[]): string {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const plans: string[] = []
  const rows = rowsOf(nodes)
  for (const [i, { node, depth }] of rows.entries()) {
    if (node.edgeType !== "plan") continue
    const end = rows.findIndex((row, j) => j > i && row.depth <= depth)
    const steps = rows.slice(i + 1, end < 0 ? rows.length : end).filter(isStep)
    plans.push(planText(node, { steps, depth, byId }))
  }
  return plans.join("\n\n")
}

function planText(
  plan: RelationNode,
  { steps, depth, byId }: { steps: Row[]; depth: number; byId: Map<string, RelationNode> },
): string {
  const done = steps.filter(({ node }) => node.context.status === "done").map(({ node }) => node)
  const open = steps.filter(({ node }) => node.context.status !== "done")
  const count = steps.length ? ` (${done.length} of ${steps.length} done)` : ""
  const names = done.slice(-most.done).map((node) => (isNumbered(node) ? textOf(node) : oneLine(node.id)))
  const more = done.length > names.length ? `${done.length - names.length} earlier ones, ` : ""
  return [
    `Plan: ${textOf(plan)}${count}`,
    ...open.map((row) => stepText({ ...row, depth: row.depth - depth - 1 }, byId)),
    ...(done.length ? [`[x] done: ${more}${names.join(", ")}`] : []),
  ].join("\n")
}

function stepText({ node, depth }: Row, byId: Map<string, RelationNode>): string {
  const { status = "pending" } = node.context
  const [, ...others] = node.parents.flatMap((id) => byId.get(id) ?? [])
  const waits = others
    .filter(({ edgeType, context }) => edgeType === "step" && context.status !== "done")
    .map((other) => (isNumbered(other) ? `"${textOf(other)}"` : oneLine(other.id)))
  const name = isNumbered(node) ? "" : `${oneLine(node.id)}: `
  const after = waits.length ? ` (after ${waits.join(", ")})` : ""
  return `${indent(depth)}${marks[status] ?? marks.pending} ${name}${textOf(node)}${after}`
}

/** The nodes in depth-first order, each below the first of its parents that is shown. */
function rowsOf(nodes: readonly RelationNode[]): Row[] {
  const shown = new Set(nodes.map(({ id }) => id))
  const below = new Map<string | undefined, RelationNode[]>()
  for (const node of nodes) {
    const parent = node.parents.find((id) => shown.has(id))
    const list = below.get(parent)
    if (list) list.push(node)
    else below.set(parent, [node])
  }
  const rows: Row[] = []
  const open = (below.get(undefined) ?? []).map((node) => ({ node, depth: 0 })).reverse()
  for (let row = open.pop(); row; row = open.pop()) {
    rows.push(row)
    const depth = row.depth + 1
    for (const node of below.get(row.node.id)?.toReversed() ?? []) open.push({ node, depth })
  }
  return rows
}

function isStep({ node }: Row): boolean {
  return node.edgeType === "step"
}

/** Steps without a name are shown by their description. */
function isNumbered({ id }: RelationNode): boolean {
  return id.startsWith("#")
}

function textOf({ context }: RelationNode): string {
  const line = oneLine(context.description)
  return line.length > most.description ? `${line.slice(0, most.description).toWellFormed()}…` : line
}

/** On one line, so that no text looks like another node. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim()
}

function indent(depth: number): string {
  return "  ".repeat(Math.min(depth, most.depth))
}
