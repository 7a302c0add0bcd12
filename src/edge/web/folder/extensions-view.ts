// What extends a folder: hooks, plugins and language servers, where each comes from, and whether it is used.
import type { Client } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { shortPath } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"

type Extensions = Awaited<ReturnType<Client["listExtensions"]>>

export function ExtensionsView({ folder }: { folder: string }) {
  const found = useData(
    () => clientFor(folder).listExtensions(),
    [folder],
    (event) => event.type === "config.changed" && event.directory === folder,
  )
  return html`<${Loaded} data=${found}>
    ${({ hooks, unusedHooks, plugins, languageServers }: Extensions) => html`
      <h2 class="pad">Hooks</h2>
      ${unusedHooks.map((line) => html`<p class="pad waits">${line} <a href=${address("folder", folder, "trust")}>Review</a></p>`)}
      ${hooks.length ? html`<${Hooks} hooks=${hooks} />` : html`<${Empty}>No hook is in force.<//>`}
      <h2 class="pad">Plugins</h2>
      ${plugins.length ? html`<ul class="cards">${plugins.map((plugin) => html`<${Plugin} key=${plugin.name} plugin=${plugin} />`)}</ul>` : html`<${Empty}>No plugin is installed.<//>`}
      <h2 class="pad">Language servers</h2>
      ${languageServers.length ? html`<${Servers} servers=${languageServers} />` : html`<${Empty}>No language server was found for this folder.<//>`}
    `}
  <//>`
}

function Hooks({ hooks }: { hooks: Extensions["hooks"] }) {
  return html`<dl class="facts pad">
    ${hooks.map(
      ({ event, matcher, name, source }) =>
        html`<dt>${event} <code>${matcher || "*"}</code></dt>
          <dd>${name} <span class="dim" title=${source}>${shortPath(source)}</span></dd>`,
    )}
  </dl>`
}

function Plugin({ plugin }: { plugin: Extensions["plugins"][number] }) {
  const { name, version, description, parts, address: from, isIntact } = plugin
  const counts = Object.entries(parts).flatMap(([kind, { length }]) => (length ? [`${length} ${kind}`] : []))
  return html`<li class="card">
    <div class="card-head"><h3>${name}</h3><span class="dim">${version}</span></div>
    <p class="text">${description}</p>
    <p class="dim small break">${[...counts, from].join(" · ")}</p>
    ${isIntact ? null : html`<p class="error">Its files are not as they were installed, so they are not used.</p>`}
  </li>`
}

function Servers({ servers }: { servers: Extensions["languageServers"] }) {
  return html`<dl class="facts pad">
    ${servers.map(
      ({ id, from, endings, command, state, reason }) =>
        html`<dt>${id} <span class="dim">${endings.join(" ")}</span></dt>
          <dd>
            ${state} <span class="dim">· ${from === "settings" ? "of the settings" : from === "plugin" ? "of a plugin" : "installed"} · <code class="break">${command}</code></span>
            ${reason ? html`<p class="error">${reason}</p>` : null}
          </dd>`,
    )}
  </dl>`
}
