// The settings in force in a folder, and the layer that each comes from.
import { useSignal } from "@preact/signals"
import type { Client } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded, matches, Search } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"

type Settings = Awaited<ReturnType<Client["listSettings"]>>
const maxShown = 500

export function SettingsView({ folder }: { folder: string }) {
  const search = useSignal("")
  const data = useData(
    () => clientFor(folder).listSettings(),
    [folder],
    (event) => event.type === "config.changed" && event.directory === folder,
  )
  return html`
    <div class="tools"><${Search} text=${search} label="Search settings" /></div>
    <${Loaded} data=${data}>
      ${({ settings, layers, ignored, warnings }: Settings) => {
        const found = settings.filter(({ key, value, source }) =>
          matches(`${key} ${JSON.stringify(value)} ${source}`, search.value),
        )
        return html`
          ${warnings.map((warning) => html`<p class="waits pad">${warning}</p>`)}
          ${found.length ? html`<${Values} found=${found.slice(0, maxShown)} />` : html`<${Empty}>${settings.length ? "No setting matches." : "No layer sets a value."}<//>`}
          ${found.length > maxShown ? html`<p class="dim pad">${found.length - maxShown} more: search for them.</p>` : null}
          ${ignored.length ? html`<${Ignored} ignored=${ignored} />` : null}
          <${Layers} layers=${layers} />
        `
      }}
    <//>
  `
}

function Values({ found }: { found: Settings["settings"] }) {
  return html`<${Table} label="Settings" columns=${["Setting", "Value", "From"]}>
    ${found.map(
      ({ key, value, source }) => html`<tr key=${key}>
        <th scope="row"><code>${key}</code></th>
        <td><code>${typeof value === "string" ? value : JSON.stringify(value)}</code></td>
        <td>${source}</td>
      </tr>`,
    )}
  <//>`
}

function Ignored({ ignored }: { ignored: Settings["ignored"] }) {
  return html`<h2 class="pad">Ignored</h2>
    <${Table} label="Ignored settings" columns=${["Setting", "From", "Reason"]}>
      ${ignored.map(({ key, source, reason }) => html`<tr><th scope="row"><code>${key}</code></th><td>${source}</td><td>${reason}</td></tr>`)}
    <//>`
}

function Layers({ layers }: { layers: Settings["layers"] }) {
  return html`<h2 class="pad">Layers, a later one wins</h2>
    <${Table} label="Layers" columns=${["Layer", "State", "Place"]}>
      ${layers.map(({ source, status, path }) => html`<tr><th scope="row">${source}</th><td>${status}</td><td>${path ?? ""}</td></tr>`)}
    <//>`
}

function Table({ label, columns, children }: { label: string; columns: string[]; children?: unknown }) {
  return html`<table class="wide" aria-label=${label}>
    <thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${children}</tbody>
  </table>`
}
