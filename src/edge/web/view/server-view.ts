// The server, the browsers that are signed in to it, and the settings of this browser.
import type { Client, Info } from "#client/client.ts"
import { clientFor, ownBrowser } from "#edge/web/base/api.ts"
import { ago } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { Choice, Loaded, useTitle } from "#edge/web/part/parts.ts"
import { useData } from "#edge/web/part/use-data.ts"
import { connection } from "#edge/web/store/live.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { isHelpOpen } from "./shortcuts.ts"
import { theme, themes } from "./theme.ts"

type Browser = Awaited<ReturnType<Client["listBrowsers"]>>[number]

export function ServerView() {
  useTitle("Server")
  const info = useData(
    () => clientFor().getInfo(),
    [],
    (event) => event.type === "connected",
  )
  return html`<div class="view">
    <h1>Server</h1>
    <${Loaded} data=${info}>${(value: Info) => html`<${Facts} info=${value} />`}<//>
    <${Browsers} />
    <section class="card">
      <h2>This page</h2>
      <div class="line">
        <${Choice} label="Colours" value=${theme.value} options=${themes} onChoose=${(value: string) => {
          theme.value = value
        }} />
        <button
          type="button"
          aria-haspopup="dialog"
          onClick=${() => {
            isHelpOpen.value = true
          }}
        >
          Shortcuts
        </button>
      </div>
    </section>
  </div>`
}

function Facts({ info }: { info: Info }) {
  const { version, directory, project, vcs, trusted, pid, uptime, clients } = info
  const facts = [
    ["Version", version],
    ["Folder", html`<a href=${address("folder", directory)}>${directory}</a>`],
    ["Project", project.name],
    ["Branch", vcs?.branch ?? "none"],
    [
      "Trusted",
      trusted ? "yes" : html`no: <a href=${address("folder", directory, "trust")}>review its files</a>`,
    ],
    ["Started", ago(Date.now() - uptime * 1_000)],
    ["Process", String(pid)],
    ["Event streams", String(clients)],
  ] as const
  return html`<section class="card">
    <dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd class="break">${value}</dd>`)}</dl>
  </section>`
}

function Browsers() {
  const browsers = useData(() => clientFor().listBrowsers(), [])
  const own = ownBrowser()
  const signOut = (id: string) =>
    attempt(async () => {
      await clientFor().signOutBrowser({ id })
      if (id === own) connection.value = "signed out"
      else browsers.reload()
    })
  return html`<section class="card" aria-labelledby="browsers-title">
    <h2 id="browsers-title">Signed-in browsers</h2>
    <${Loaded} data=${browsers}>
      ${(all: Browser[]) => html`<ul class="plain">
        ${all.map(
          ({ id, browser, created, used }) => html`<li key=${id} class="line">
            <span class="grow break">${browser || "Unknown browser"}${id === own ? html` <strong>(this one)</strong>` : null}
              <span class="dim small"> signed in ${ago(created)}, used ${ago(used)}</span></span>
            <button type="button" onClick=${() => signOut(id)} aria-label=${`Sign out ${id === own ? "this browser" : id}`}>Sign out</button>
          </li>`,
        )}
      </ul>`}
    <//>
  </section>`
}
