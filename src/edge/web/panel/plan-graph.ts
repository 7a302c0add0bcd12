// A plan as a graph: its nodes laid out by dagre, and drawn as SVG. Arrow keys walk along the edges.
import { Graph, layout } from "@dagrejs/dagre"
import { useEffect, useRef, useState } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import type { PlanNode } from "./plan-nodes.ts"
import { stateWords } from "./plan-nodes.ts"

type Placed = { node: PlanNode; x: number; y: number }
type Drawn = {
  width: number
  height: number
  nodes: Placed[]
  edges: { key: string; path: string; ends: string[] }[]
}

const [width, height] = [170, 56]
const margin = 12
const maxText = 200

export function PlanGraph({
  nodes,
  chosen,
  onChoose,
}: {
  nodes: readonly PlanNode[]
  chosen: string | undefined
  onChoose(id: string): void
}) {
  const [drawn, setDrawn] = useState<Drawn>()
  const svg = useRef<SVGSVGElement>(null)
  const shape = JSON.stringify(nodes.map(({ id, parents }) => [id, parents]))
  // Only a change of the edges moves the nodes. The layout runs after the panel has been painted.
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(place(nodes)))
    return () => clearTimeout(timer)
  }, [shape])
  if (!drawn) return html`<p class="dim" aria-busy="true">Drawing…</p>`
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const first = drawn.nodes[0]?.node.id
  const focused = chosen !== undefined && byId.has(chosen) ? chosen : first
  const walk = (event: KeyboardEvent, id: string) => {
    const to = event.key.startsWith("Arrow") ? neighbour(drawn, id, event.key) : undefined
    if (event.key === "Enter" || event.key === " ") onChoose(id)
    else if (!to) return
    event.preventDefault()
    if (!to) return
    onChoose(to)
    svg.current?.querySelector<SVGElement>(`[data-node="${CSS.escape(to)}"]`)?.focus()
  }
  return html`<div class="graph">
    <svg ref=${svg} width=${drawn.width} height=${drawn.height} role="group" aria-label="Plan as a graph">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
          <path d="M0 0L8 4L0 8z"></path>
        </marker>
      </defs>
      ${drawn.edges.map(
        ({ key, path, ends }) =>
          html`<path key=${key} class="edge" data-near=${chosen !== undefined && ends.includes(chosen)} d=${path} marker-end="url(#arrow)"></path>`,
      )}
      ${drawn.nodes.map(({ node: { id }, x, y }) => {
        const node = byId.get(id)
        if (!node) return null
        return html`<g
          key=${id}
          class="node"
          data-node=${id}
          data-kind=${node.kind}
          data-state=${node.state}
          role="button"
          tabindex=${id === focused ? 0 : -1}
          aria-pressed=${id === chosen ? "true" : "false"}
          aria-label=${`${node.kind}: ${node.text.slice(0, maxText)} ${stateWords(node)}`}
          transform=${`translate(${x - width / 2} ${y - height / 2})`}
          onClick=${() => onChoose(id)}
          onKeyDown=${(event: KeyboardEvent) => walk(event, id)}
        >
          <title>${node.text}</title>
          <rect width=${width} height=${height} rx="8"></rect>
          <foreignObject width=${width} height=${height}>
            <div class="node-text"><span>${node.text.slice(0, maxText)}</span> <span class="node-state">${stateWords(node)}</span></div>
          </foreignObject>
        </g>`
      })}
    </svg>
  </div>`
}

/** Circles are allowed: dagre turns one of their edges around. */
function place(nodes: readonly PlanNode[]): Drawn {
  const graph = new Graph().setGraph({
    rankdir: "TB",
    nodesep: 14,
    ranksep: 34,
    marginx: margin,
    marginy: margin,
  })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id } of nodes) graph.setNode(id, { width, height })
  for (const { id, parents } of nodes)
    for (const parent of parents) if (parent !== id && graph.hasNode(parent)) graph.setEdge(parent, id)
  layout(graph)
  const whole = graph.graph() as { width?: number; height?: number }
  return {
    width: Math.ceil(whole.width ?? 0),
    height: Math.ceil(whole.height ?? 0),
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.id) as { x: number; y: number }
      return { node, x, y }
    }),
    edges: (graph.edges() as { v: string; w: string }[]).map((edge) => {
      const { points } = graph.edge(edge) as { points: { x: number; y: number }[] }
      return { key: `${edge.v} ${edge.w}`, path: curve(points), ends: [edge.v, edge.w] }
    }),
  }
}

/** A smooth line through the points: each is the control of a curve between the middles of its neighbours. */
function curve(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points
  const last = rest.at(-1)
  if (!first || !last) return ""
  const middles = rest.slice(0, -1).map((point, i) => {
    const next = rest[i + 1]!
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`
  })
  return `M${first.x} ${first.y}${middles.join("")}L${last.x} ${last.y}`
}

/** The nearest node in the direction of the key. */
function neighbour({ nodes }: Drawn, id: string, key: string): string | undefined {
  const from = nodes.find(({ node }) => node.id === id)
  if (!from) return undefined
  const isAcross = key === "ArrowLeft" || key === "ArrowRight"
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1
  let best: { id: string; far: number } | undefined
  for (const { node, x, y } of nodes) {
    const [along, aside] = isAcross ? [x - from.x, y - from.y] : [y - from.y, x - from.x]
    if (node.id === id || along * sign <= 1) continue
    const far = along * sign + Math.abs(aside) * (isAcross ? 4 : 0.5)
    if (!best || far < best.far) best = { id: node.id, far }
  }
  return best?.id
}
