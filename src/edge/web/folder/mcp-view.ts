// The MCP servers of a folder: their state, what they offer, and connecting, disconnecting and signing in.
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import type { McpOffers, McpServer } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { counted } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { Empty, Loaded } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { may } from "#edge/web/store/person.ts"
import { attempt, report } from "#edge/web/store/problems.ts"

export function McpView({ folder }: { folder: string }) {
  const servers = useData(
    () => clientFor(folder).listMcpServers(),
    [folder],
    (event) => event.type === "mcp.changed" && event.directory === folder,
  )
  return html`<${Loaded} data=${servers}>
    ${(all: McpServer[]) =>
      all.length
        ? html`<ul class="cards">
            ${all.map((server) => html`<${Server} key=${server.id} folder=${folder} server=${server} reload=${servers.reload} />`)}
          </ul>`
        : html`<${Empty}>No MCP server is configured in this folder. <code>vitamin mcp add</code> adds one.<//>`}
  <//>`
}

function Server({ folder, server, reload }: { folder: string; server: McpServer; reload(): void }) {
  const { id, name, state, error, needsLogin, version, source, transport, problems } = server
  const isBusy = useSignal(false)
  const client = clientFor(folder)
  const act = (work: () => Promise<unknown>) =>
    attempt(async () => {
      isBusy.value = true
      try {
        await work()
      } finally {
        isBusy.value = false
        reload()
      }
    })
  return html`<li class="card">
    <div class="card-head">
      <h2>${name}</h2>
      <span class="state" data-state=${state === "connected" ? "busy" : error ? "error" : state} role="status">${state}</span>
      <span class="grow"></span>
      ${
        !may("admin")
          ? null
          : state === "connected"
            ? html`<button type="button" disabled=${isBusy.value} onClick=${() => act(() => client.disconnectMcpServer({ id }))}>Disconnect ${name}</button>`
            : state === "unusable"
              ? null
              : html`<button type="button" disabled=${isBusy.value} onClick=${() => act(() => client.connectMcpServer({ id }))}>Connect ${name}</button>`
      }
      ${needsLogin && may("admin") ? html`<${Login} folder=${folder} id=${id} onEnd=${reload} />` : null}
    </div>
    <p class="dim small">${[id, transport, version, source].filter(Boolean).join(" · ")}</p>
    ${error ? html`<p class="error">${error}</p>` : null}
    ${problems.map((problem) => html`<p class="waits">${problem}</p>`)}
    <${Offers} folder=${folder} server=${server} />
  </li>`
}

function Login({ folder, id, onEnd }: { folder: string; id: string; onEnd(): void }) {
  const url = useSignal<string | undefined>(undefined)
  const isWaiting = useSignal(false)
  /** Counts logins: one that was stopped must not end the next one. */
  const current = useRef(0)
  const leave = () => {
    current.current++
  }
  useEffect(() => leave, [])
  const client = clientFor(folder)
  const start = () =>
    attempt(async () => {
      const own = ++current.current
      url.value = (await client.startMcpLogin({ id })).url
      isWaiting.value = url.value !== undefined
      // Each request waits up to 20 seconds, until the person has signed in, stops it, or leaves the view.
      while (isWaiting.value && own === current.current) {
        const { state, error } = await client.waitForMcpLogin({ id })
        if (state === "waiting" || own !== current.current) continue
        isWaiting.value = false
        if (error) report(new Error(error))
      }
      if (own === current.current) onEnd()
    })
  const stop = () =>
    attempt(async () => {
      leave()
      // Only then can the next one begin: this would stop it too.
      await client.cancelMcpLogin({ id })
      isWaiting.value = false
    })
  if (!isWaiting.value) return html`<button type="button" class="primary" onClick=${start}>Sign in</button>`
  return html`<span role="status">
    ${/^https?:/.test(url.value ?? "") ? html`<a href=${url.value} target="_blank" rel="noopener noreferrer">Open the sign-in page</a>` : "Waiting…"}
    <button type="button" onClick=${stop}>Stop</button>
  </span>`
}

/** Read when the person opens it. */
function Offers({ folder, server }: { folder: string; server: McpServer }) {
  const isOpen = useSignal(false)
  const { tools, resources, prompts } = server
  const toggle = (event: Event) => {
    isOpen.value = (event.currentTarget as HTMLDetailsElement).open
  }
  return html`<details onToggle=${toggle}>
    <summary>${counted(tools, "tool")} · ${counted(resources, "resource")} · ${counted(prompts, "prompt")}</summary>
    ${isOpen.value ? html`<${OfferLists} folder=${folder} server=${server} />` : null}
  </details>`
}

function OfferLists({
  folder,
  server: { id, tools, resources, prompts },
}: {
  folder: string
  server: McpServer
}) {
  const offers = useData(
    () => clientFor(folder).listMcpOffers({ server: id }),
    [folder, id, tools, resources, prompts],
  )
  return html`<${Loaded} data=${offers}>
    ${(all: McpOffers) => html`
      <${OfferList} title="Tools" items=${all.tools} />
      <${OfferList} title="Resources" items=${all.resources.map((one) => ({ ...one, name: `${one.name} (${one.uri})` }))} />
      <${OfferList} title="Templates" items=${all.templates.map((one) => ({ ...one, name: `${one.name} (${one.uriTemplate})` }))} />
      <${OfferList} title="Prompts" items=${all.prompts} />
    `}
  <//>`
}

const maxShown = 200

function OfferList({ title, items }: { title: string; items: { name: string; description?: string }[] }) {
  if (!items.length) return null
  return html`<h3>${title}</h3>
    <dl class="facts">
      ${items.slice(0, maxShown).map(({ name, description }) => html`<dt><code>${name}</code></dt><dd class="clamp">${description ?? ""}</dd>`)}
    </dl>
    ${items.length > maxShown ? html`<p class="dim">${items.length - maxShown} more. Tools can be searched in the view of tools.</p>` : null}`
}
