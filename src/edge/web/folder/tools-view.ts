// The tools of a folder. A search ranks them as the agent's own search does, with scores.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Tool } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { Dialog } from "#edge/web/part/dialog.ts"
import { Empty, Loaded, Search } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { WindowedRows } from "#edge/web/part/windowed-rows.ts"

/** Milliseconds after the last key. */
const pause = 200

export function ToolsView({ folder }: { folder: string }) {
  const search = useSignal("")
  const asked = useSignal("")
  const chosen = useSignal<Tool | undefined>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => {
      asked.value = search.value.trim()
    }, pause)
    return () => clearTimeout(timer)
  }, [search.value])
  const tools = useData(
    () => clientFor(folder).listTools(asked.value ? { search: asked.value } : {}),
    [folder, asked.value],
    (event) => event.type === "mcp.changed" && event.directory === folder,
  )
  return html`
    <div class="tools"><${Search} text=${search} label="Search tools" /></div>
    <${Loaded} data=${tools}>
      ${(all: Tool[]) => html`
        <p class="dim pad small" role="status">${all.length === 1 ? "1 tool" : `${all.length} tools`}</p>
        ${all.length ? null : html`<${Empty}>No tool matches.<//>`}
        <${WindowedRows}
          items=${all}
          label="Tools"
          keyOf=${({ id }: Tool) => id}
          draw=${(tool: Tool) => html`<${Row}
            tool=${tool}
            onOpen=${() => {
              chosen.value = tool
            }}
          />`}
        />
      `}
    <//>
    ${
      chosen.value
        ? html`<${Details}
            tool=${chosen.value}
            onClose=${() => {
              chosen.value = undefined
            }}
          />`
        : null
    }
  `
}

function Row({ tool, onOpen }: { tool: Tool; onOpen(): void }) {
  const { id, description, server, category, readOnly, score } = tool
  return html`<button type="button" class="row" aria-haspopup="dialog" onClick=${onOpen}>
    <span class="row-head">
      <span class="title"><code>${id}</code></span>
      ${score === undefined ? null : html`<span class="score">score ${score.toFixed(2)}</span>`}
    </span>
    <span class="row-facts">
      <span>${server ?? category}</span>
      ${readOnly ? html`<span>only reads</span>` : null}
      <span>${description.slice(0, 200)}</span>
    </span>
  </button>`
}

function Details({ tool, onClose }: { tool: Tool; onClose(): void }) {
  return html`<${Dialog} title=${tool.id} onClose=${onClose}>
    ${() => html`
      <p class="text">${tool.description}</p>
      <h3>Parameters</h3>
      <pre class="output" tabindex="0">${JSON.stringify(tool.parameters, null, 2)}</pre>
    `}
  <//>`
}
