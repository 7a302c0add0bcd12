// The frame of every view: the way to the views, the state of the connection, problems, and the view itself, which is
// loaded when it is opened.
import { useLayoutEffect, useRef } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import { place } from "#edge/web/base/router.ts"
import { Boundary } from "#edge/web/part/boundary.ts"
import { useTitle } from "#edge/web/part/parts.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import { connection } from "#edge/web/store/live.ts"
import { dismiss, problems } from "#edge/web/store/problems.ts"
import { questions } from "#edge/web/store/sessions.ts"
import { Shortcuts } from "./shortcuts.ts"

const SessionView = lazy(async () => (await import("./session-view.ts")).SessionView)
const AllSessions = lazy(async () => (await import("./session-list.ts")).AllSessions)
const FolderView = lazy(async () => (await import("./folder-view.ts")).FolderView)
const StatsView = lazy(async () => (await import("./stats-view.ts")).StatsView)
const EventsView = lazy(async () => (await import("./events-view.ts")).EventsView)
const ServerView = lazy(async () => (await import("./server-view.ts")).ServerView)
const links = [
  ["", "Sessions"],
  ["stats", "Stats"],
  ["events", "Events"],
  ["server", "Server"],
] as const

export function App() {
  const { name, parts } = place.value
  useFocusOnView(`${name}/${parts.join("/")}`)
  if (connection.value === "signed out") return html`<${SignedOut} />`
  return html`
    <a class="skip" href="#main" onClick=${focusMain}>Skip to the content</a>
    <header class="bar">
      <a class="brand" href="#/">vitamin</a>
      <nav class="views" aria-label="Views">
        ${links.map(
          ([view, text]) =>
            html`<a key=${view} href=${`#/${view}`} aria-current=${name === view ? "page" : undefined}>${text}</a>`,
        )}
      </nav>
      <${Waiting} />
      <${Connection} />
    </header>
    <main id="main" tabindex="-1"><${Boundary} key=${`${name}/${parts[0] ?? ""}`} what="This view">${viewOf(name, parts)}<//></main>
    <${Problems} />
    <${Shortcuts} />
  `
}

function viewOf(name: string, parts: string[]) {
  const [first, second = ""] = parts
  if (name === "session" && first) return html`<${SessionView} key=${first} id=${first} tab=${second} />`
  if (name === "folder" && first) return html`<${FolderView} key=${first} folder=${first} part=${second} />`
  if (name === "stats") return html`<${StatsView} />`
  if (name === "events") return html`<${EventsView} />`
  if (name === "server") return html`<${ServerView} />`
  if (name === "") return html`<${AllSessions} />`
  return html`<${NotFound} />`
}

function NotFound() {
  useTitle("Not found")
  return html`<div class="center"><h1>There is no such view</h1><p><a href="#/">All sessions</a></p></div>`
}

/** A new view gets the focus, as a new page would: the Tab key and screen readers begin at its top. */
function useFocusOnView(address: string): void {
  const last = useRef(address)
  // At once: a key that is pressed as soon as the view is drawn must not lose its focus.
  useLayoutEffect(() => {
    if (last.current === address) return
    last.current = address
    const main = document.getElementById("main")
    if (main && !main.contains(document.activeElement)) main.focus({ preventScroll: true })
  }, [address])
}

function focusMain(event: Event): void {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

function SignedOut() {
  useTitle("Not signed in")
  return html`<main class="center">
      <h1>Not signed in</h1>
    <p>Run <code>vitamin web</code> in a terminal. It opens this page with a code that works once.</p>
    </main>
    <${Problems} />`
}

function Waiting() {
  const { length } = questions.value
  if (!length) return null
  const [first] = questions.value
  const sessionId = first!.request.sessionId
  return html`<a class="waiting" href=${sessionId ? `#/session/${sessionId}` : "#/"}>
    ${length === 1 ? "1 question waits" : `${length} questions wait`}
  </a>`
}

function Connection() {
  const state = connection.value
  const text =
    state === "open" ? "Connected" : state === "connecting" ? "Connecting…" : "Connection lost, trying again…"
  return html`<span class="connection" role="status" data-state=${state}>${text}</span>`
}

function Problems() {
  return html`<div class="problems" role="alert">
    ${problems.value.map(
      ({ id, text }) => html`<p key=${id}>
        ${text} <button type="button" onClick=${() => dismiss(id)} aria-label="Close">×</button>
      </p>`,
    )}
  </div>`
}
