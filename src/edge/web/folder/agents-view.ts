// The agents of a folder, and which one a request would be routed to.
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { Agent } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { may } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"

type Routed = {
  agent: string
  reasons: string[]
  ranked: { agent: string; score: number; reasons: string[] }[]
}

export function AgentsView({ folder }: { folder: string }) {
  const agents = useData(
    () => clientFor(folder).listAgents(),
    [folder],
    (event) => event.type === "config.changed" && event.directory === folder,
  )
  return html`
    ${may("member") ? html`<${Route} folder=${folder} />` : null}
    <${Loaded} data=${agents}>
      ${(all: Agent[]) =>
        all.length
          ? html`<ul class="cards">${all.map((agent) => html`<${AgentCard} key=${agent.id} agent=${agent} />`)}</ul>`
          : html`<${Empty}>No agent is defined here.<//>`}
    <//>
  `
}

function Route({ folder }: { folder: string }) {
  const request = useSignal("")
  const routed = useSignal<Routed | undefined>(undefined)
  const asked = useRef(0)
  const ask = (event: Event) => {
    event.preventDefault()
    attempt(async () => {
      const own = ++asked.current
      const answer = request.value.trim()
        ? await clientFor(folder).routeRequest({ request: request.value })
        : undefined
      // The answer to an earlier request may come last.
      if (own === asked.current) routed.value = answer
    })
  }
  return html`<section class="card" aria-labelledby="route-title">
    <h2 id="route-title">Who would get a request?</h2>
    <form class="line" onSubmit=${ask}>
      <input
        class="grow"
        aria-label="Request"
        placeholder="Review my change"
        maxlength="10000"
        value=${request.value}
        onInput=${(event: InputEvent) => {
          request.value = (event.target as HTMLInputElement).value
        }}
      />
      <button type="submit">Route</button>
    </form>
    <div role="status">${routed.value ? html`<${Ranking} routed=${routed.value} />` : null}</div>
  </section>`
}

function Ranking({ routed: { agent, reasons, ranked } }: { routed: Routed }) {
  if (!ranked.length) return html`<p><strong>${agent}</strong>: ${reasons.join("; ")}</p>`
  return html`<table>
    <thead><tr><th scope="col">Agent</th><th scope="col">Score</th><th scope="col">Reasons</th></tr></thead>
    <tbody>
      ${ranked.map(
        (fit) => html`<tr>
          <th scope="row">${fit.agent}${fit.agent === agent ? " (chosen)" : ""}</th>
          <td class="number">${fit.score}</td>
          <td>${fit.reasons.join("; ")}</td>
        </tr>`,
      )}
    </tbody>
  </table>`
}

function AgentCard({ agent }: { agent: Agent }) {
  const { id, name, role, mode, domain, model, metadata, usableTools, permissions, systemPrompt, file } =
    agent
  return html`<li class="card">
    <div class="card-head"><h2>${name}</h2><span class="dim">${[id, mode, role, domain, model].filter(Boolean).join(" · ")}</span></div>
    <p class="text">${metadata.description ?? ""}</p>
    <details>
      <summary>${usableTools.length} tools · ${permissions.length} rules · instructions</summary>
      <p class="break"><code>${usableTools.join(", ")}</code></p>
      ${permissions.map(
        ({ action, permission, pattern }) =>
          html`<p class="break"><code>${action} ${permission}:${pattern}</code></p>`,
      )}
      <pre class="output" tabindex="0" aria-label=${`Instructions of ${name}`}>${systemPrompt || "No instructions of its own."}</pre>
      ${file ? html`<p class="dim small break">${file}</p>` : null}
    </details>
  </li>`
}
