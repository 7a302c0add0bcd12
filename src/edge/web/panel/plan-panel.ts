// The plan of a session: as a graph, and as a list with the same content.
import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Plan } from "#client/client.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { report } from "#edge/web/store/problems.ts"
import { nodesOf, type PlanNode, stateWords } from "./plan-nodes.ts"
import { Shown } from "./shown.ts"
import { useLive } from "./use-live.ts"

/** The layout of more nodes would stop the page for too long. */
const maxDrawn = 120
const maxListed = 500

export function PlanPanel({ open }: { open: OpenSession }) {
  const live = useLive(open, () => open.client.getPlan({ id: open.id }), [
    "todo.updated",
    "session.created",
    "session.updated",
    "session.idle",
  ])
  return html`<${Shown}
    live=${live}
    empty="This session has no plan yet. An agent makes one for work with several steps."
    isEmpty=${(plan: Plan) => !nodesOf(plan).length}
  >
    ${(plan: Plan) => html`<${PlanView} nodes=${nodesOf(plan)} />`}
  <//>`
}

function PlanView({ nodes }: { nodes: PlanNode[] }) {
  const hasFiles = useSignal(false)
  const chosen = useSignal<string | undefined>(undefined)
  const [Graph, setGraph] = useState<ComponentType<object>>()
  useEffect(() => {
    import("./plan-graph.ts").then(
      ({ PlanGraph }) => setGraph(() => PlanGraph as ComponentType<object>),
      report,
    )
  }, [])
  const steps = nodes.filter(({ kind }) => kind === "step")
  const done = steps.filter(({ state }) => state === "done").length
  const files = nodes.filter(({ kind }) => kind === "file")
  const shown = hasFiles.value ? nodes : nodes.filter(({ kind }) => kind !== "file")
  return html`
    <p>
      <strong>${steps.length ? `${done} of ${steps.length} steps done` : "No steps"}</strong>
      ${
        files.length
          ? html` <label class="plan-choice"
              ><input
                type="checkbox"
                checked=${hasFiles.value}
                onChange=${(event: Event) => {
                  hasFiles.value = (event.target as HTMLInputElement).checked
                }}
              />
              Show changed files (${files.length})</label
            >`
          : null
      }
    </p>
    ${
      shown.length > maxDrawn
        ? html`<p class="dim">A graph of ${shown.length} nodes would be too large. The list below has all of them.</p>`
        : Graph
          ? html`<${Graph}
              nodes=${shown}
              chosen=${chosen.value}
              onChoose=${(id: string) => {
                chosen.value = id
              }}
            />`
          : html`<p class="dim" aria-busy="true">Loading…</p>`
    }
    <${Chosen} node=${nodes.find(({ id }) => id === chosen.value)} nodes=${nodes} />
    <details open=${shown.length > maxDrawn}>
      <summary>The plan as a list</summary>
      <${PlanList} nodes=${shown} />
    </details>
  `
}

function Chosen({ node, nodes }: { node: PlanNode | undefined; nodes: PlanNode[] }) {
  if (!node) return null
  const below = nodes.filter(({ parents }) => parents.includes(node.id))
  return html`<section class="chosen" aria-label="Chosen node" aria-live="polite">
    <h3>${node.text}</h3>
    <p class="dim">${node.kind}${node.state ? `, ${stateWords(node)}` : ""}${node.agent ? `, agent ${node.agent}` : ""}</p>
    ${node.sessionId ? html`<p><a href=${address("session", node.sessionId)}>Open the session of this task</a></p>` : null}
    ${below.length ? html`<ul>${below.slice(0, maxListed).map((one) => html`<li key=${one.id}>${one.kind}: ${one.text}</li>`)}</ul>` : null}
  </section>`
}

function PlanList({ nodes }: { nodes: PlanNode[] }) {
  const text = new Map(nodes.map((node) => [node.id, node]))
  return html`<ol class="plan-list">
    ${nodes.slice(0, maxListed).map((node) => {
      const after = node.parents.flatMap((id) => text.get(id) ?? []).filter(({ kind }) => kind === node.kind)
      return html`<li key=${node.id} data-state=${node.state}>
        <span class="dim">${stateWords(node)}</span> ${node.text}
        ${after.length ? html`<span class="dim"> after: ${after.map((one) => one.text).join(", ")}</span>` : null}
      </li>`
    })}
  </ol>
  ${nodes.length > maxListed ? html`<p class="dim">${nodes.length - maxListed} more are not shown.</p>` : null}`
}
