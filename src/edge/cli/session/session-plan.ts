// `vitamin session plan`: the plan of a session as a tree, each step with its state, the files that were changed for it
// and the sessions that did a task for it.
import { styleText } from "node:util"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import * as Session from "#engine/session/session.ts"
import { findSession } from "./find-session.ts"

type Node = Session.Plan["nodes"][number]
type Paint = (format: Parameters<typeof styleText>[0], text: string) => string

const marks = { pending: "[ ]", in_progress: "[>]", done: "[x]", failed: "[!]" }
const colours = { pending: "dim", in_progress: "yellow", done: "green", failed: "red" } as const

export async function showPlan(
  options: FolderOptions & { id?: string | undefined; format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    const plan = await Session.plan((await findSession(options.id)).id)
    if (options.format === "json") return print(JSON.stringify(plan, null, 2))
    // Colours only in a terminal, and only if they are not turned off.
    for (const line of drawPlan(plan, (format, text) => styleText(format, text))) print(line)
  })
}

/** Text of models and files is escaped before it is coloured. */
export function drawPlan({ sessionId, nodes }: Session.Plan, paint: Paint): string[] {
  const isRoot = ({ id }: Node) => id === `agent:${sessionId}`
  const plan = nodes.find(({ edgeType }) => edgeType === "plan")
  const session = nodes.find(isRoot)
  const steps = nodes.filter(({ edgeType }) => edgeType === "step")
  const done = steps.filter(({ context }) => context.status === "done").length
  const title = plan ? safe(plan.context.description) : "No plan"
  const count = plan ? `, ${done} of ${steps.length} done` : ""
  const head = `${paint("bold", title)}${count}  ${paint("dim", sessionId)}`
  const rest = session ? branches(nodes, session, paint) : []
  return [
    head,
    ...(plan ? branches(nodes, plan, paint) : []),
    ...(rest.length ? [...(plan ? ["Outside of the steps:"] : []), ...rest] : []),
  ]
}

/** Each node is drawn below its first parent, and only named below the others. */
function branches(nodes: readonly Node[], parent: Node, paint: Paint): string[] {
  const below = nodes.filter(({ parents }) => parents[0] === parent.id)
  return below.flatMap((node, i) => {
    const isLast = i === below.length - 1
    const [first, ...others] = [describe(node, nodes, paint), ...branches(nodes, node, paint)]
    return [`${isLast ? "└─" : "├─"} ${first}`, ...others.map((line) => `${isLast ? "  " : "│ "} ${line}`)]
  })
}

function describe(node: Node, nodes: readonly Node[], paint: Paint): string {
  const { edgeType, context } = node
  const { status, description, changes, agent, sessionId } = context
  const text = safe(description)
  if (edgeType === "file") return paint("dim", `${text}${Number(changes) > 1 ? `  ${changes}×` : ""}`)
  const mark = status ? `${paint(colours[status], marks[status])} ` : ""
  if (edgeType === "agent") return `${mark}${safe(`${agent}`)}: ${text}  ${paint("dim", `${sessionId}`)}`
  const [, ...others] = node.parents
  const after = others.flatMap(
    (id) => nodes.find((other) => other.id === id && other.edgeType === "step") ?? [],
  )
  const waits = after.length ? paint("dim", `  after ${after.map(nameOf).join(", ")}`) : ""
  const name = isNamed(node) ? `${paint("bold", safe(node.id))}  ` : ""
  return `${mark}${name}${status === "done" ? paint("dim", text) : text}${waits}`
}

function nameOf(node: Node): string {
  return isNamed(node) ? safe(node.id) : `"${safe(node.context.description)}"`
}

function isNamed({ id }: Node): boolean {
  return !id.startsWith("#")
}

function safe(text: string): string {
  return safeText(text).replace(/\s+/g, " ")
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
