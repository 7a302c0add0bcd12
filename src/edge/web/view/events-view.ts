// The event log: what the server publishes while this view is open, filtered, with the event as JSON. It keeps a bounded
// number of events as text of bounded length, so that a long stream cannot fill the memory.
import { signal, useSignal } from "@preact/signals"
import { useLayoutEffect } from "preact/hooks"
import type { StreamEvent } from "#client/client.ts"
import { shortPath } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { Dialog } from "#edge/web/part/dialog.ts"
import { Choice, Empty, matches, Search, useTitle } from "#edge/web/part/parts.ts"
import { WindowedRows } from "#edge/web/part/windowed-rows.ts"
import { listen } from "#edge/web/store/live.ts"

type Logged = { at: number; time: number; type: string; directory: string; sessionId: string; text: string }

const maxEvents = 500
const maxText = 20_000
const logged = signal<readonly Logged[]>([])
let next = 1

export function EventsView() {
  const isPaused = useSignal(false)
  const search = useSignal("")
  const type = useSignal("")
  const folder = useSignal("")
  const session = useSignal("")
  const chosen = useSignal<Logged | undefined>(undefined)
  useTitle("Events")
  useLayoutEffect(() => (isPaused.value ? undefined : record()), [isPaused.value])
  const all = logged.value
  const found = all.filter(
    (event) =>
      (type.value === "" || event.type === type.value) &&
      (folder.value === "" || event.directory === folder.value) &&
      (session.value === "" || event.sessionId === session.value) &&
      (search.value === "" || matches(event.text, search.value)),
  )
  const choice = (label: string, from: typeof type, key: "type" | "directory" | "sessionId") =>
    html`<${Choice}
      label=${label}
      value=${from.value}
      options=${optionsOf(all, key, from.value)}
      onChoose=${(value: string) => {
        from.value = value
      }}
    />`
  return html`<div class="view">
    <h1>Events</h1>
    <div class="tools">
      <${Search} text=${search} label="Search events" />
      ${choice("Type", type, "type")} ${choice("Folder", folder, "directory")} ${choice("Session", session, "sessionId")}
      <button
        type="button"
        aria-pressed=${isPaused.value ? "true" : "false"}
        onClick=${() => {
          isPaused.value = !isPaused.value
        }}
      >
        Pause
      </button>
      <button
        type="button"
        onClick=${() => {
          logged.value = []
        }}
      >
        Clear
      </button>
    </div>
    <p class="dim pad small">
      ${found.length} of ${all.length} events${all.length === maxEvents ? ", older ones were dropped" : ""}${isPaused.value ? " · paused" : ""}
    </p>
    ${found.length ? null : html`<${Empty}>${all.length ? "No event matches." : "No event yet. They are recorded while this view is open."}<//>`}
    <${WindowedRows}
      items=${found.toReversed()}
      label="Events"
      keyOf=${({ at }: Logged) => at}
      draw=${(event: Logged) => html`<button
        type="button"
        class="row"
        aria-haspopup="dialog"
        onClick=${() => {
          chosen.value = event
        }}
      >
        <span class="row-head"><code class="title">${event.type}</code><time class="dim">${timeOf(event)}</time></span>
        <span class="row-facts"><span>${shortPath(event.directory)}</span><span>${event.sessionId}</span><span>${event.text.slice(0, 200)}</span></span>
      </button>`}
    />
    ${
      chosen.value
        ? html`<${Dialog}
            title=${chosen.value.type}
            onClose=${() => {
              chosen.value = undefined
            }}
          >
            ${() => html`<pre class="output" tabindex="0" aria-label="Event">${pretty(chosen.value?.text ?? "")}</pre>`}
          <//>`
        : null
    }
  </div>`
}

/** Takes events in once per frame, however many come. Returns a function that stops it. */
function record(): () => void {
  let waiting: Logged[] = []
  let frame = 0
  const stop = listen((event) => {
    waiting.push(loggedOf(event))
    if (waiting.length > maxEvents) waiting.shift()
    frame ||= requestAnimationFrame(() => {
      frame = 0
      logged.value = [...logged.value, ...waiting].slice(-maxEvents)
      waiting = []
    })
  })
  return () => {
    stop()
    cancelAnimationFrame(frame)
    if (waiting.length) logged.value = [...logged.value, ...waiting].slice(-maxEvents)
  }
}

function loggedOf(event: StreamEvent): Logged {
  const {
    directory = "",
    time = Date.now(),
    payload = {},
  } = event as {
    directory?: string
    time?: number
    payload?: { sessionId?: string; session?: { id?: string }; message?: { sessionId?: string } }
  }
  const sessionId = payload.sessionId ?? payload.session?.id ?? payload.message?.sessionId ?? ""
  const text = JSON.stringify(event).slice(0, maxText)
  return { at: next++, time, type: event.type, directory, sessionId, text }
}

function optionsOf(
  all: readonly Logged[],
  key: "type" | "directory" | "sessionId",
  chosen: string,
): [string, string][] {
  const values = new Set([chosen, ...all.map((event) => event[key])])
  values.delete("")
  const shown = [...values]
    .sort()
    .map((value): [string, string] => [value, key === "directory" ? shortPath(value) : value])
  return [["", "All"], ...shown]
}

function timeOf({ time }: Logged): string {
  return new Date(time).toLocaleTimeString("en", { hour12: false })
}

/** A text that was cut is shown as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return `${text}…`
  }
}
