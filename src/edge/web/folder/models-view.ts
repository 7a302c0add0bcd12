// The models that can be used now.
import { useSignal } from "@preact/signals"
import type { UsableModel } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { count } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded, matches, Search } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { WindowedRows } from "#edge/web/part/windowed-rows.ts"

export function ModelsView({ folder }: { folder: string }) {
  const search = useSignal("")
  const models = useData(
    () => clientFor(folder).listUsableModels(),
    [folder],
    (event) => event.type === "config.changed" && event.directory === folder,
  )
  return html`
    <div class="tools"><${Search} text=${search} label="Search models" /></div>
    <${Loaded} data=${models}>
      ${(all: UsableModel[]) => {
        const found = all.filter((model) => matches(`${idOf(model)} ${model.name}`, search.value))
        return html`
          <p class="dim pad small" role="status">${found.length === 1 ? "1 model" : `${found.length} models`}</p>
          ${found.length ? null : html`<${Empty}>No model matches. A provider needs a key: <code>vitamin auth login</code>.<//>`}
          <${WindowedRows} items=${found} label="Models" keyOf=${idOf} draw=${(model: UsableModel) => html`<${Row} model=${model} />`} />
        `
      }}
    <//>
  `
}

function Row({ model }: { model: UsableModel }) {
  return html`<div class="row">
    <span class="row-head"><span class="title">${model.name}</span></span>
    <span class="row-facts">
      <code>${idOf(model)}</code>
      <span>${count(model.context)} tokens of context</span>
      <span>${count(model.output)} of output</span>
    </span>
  </div>`
}

function idOf({ provider, id }: UsableModel): string {
  return `${provider}/${id}`
}
