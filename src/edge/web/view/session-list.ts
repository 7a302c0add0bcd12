// All sessions, of every folder or of one: searched and filtered, with state, cost, and what waits for an answer.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Session } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { ago, count, counted, money, shortPath, stateWords } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address, go } from "#edge/web/base/router.ts"
import { Dialog } from "#edge/web/part/dialog.ts"
import { Choice, Empty, matches, Search, useTitle } from "#edge/web/part/parts.ts"
import { WindowedRows } from "#edge/web/part/windowed-rows.ts"
import { AnyQuestion } from "#edge/web/session/questions.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import { folders, loadAll, loadFirst, loadMore, partOf, sessions } from "#edge/web/store/listed-sessions.ts"
import { may, mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { findSession, putSession, questions } from "#edge/web/store/sessions.ts"

const states = [
  ["", "Any state"],
  ["asks", "Waits for an answer"],
  ["busy", "Working"],
  ["idle", "Idle"],
  ["interrupted", "Interrupted"],
  ["error", "Failed"],
] as const
const SessionActions = lazy(async () => (await import("./session-actions.ts")).SessionActions)
const maxQuestions = 10
/** The choice of a folder that has none of the sessions that were read. */
const otherFolders = "…"
/** Tasks of tasks. */
const maxDepth = 10

export function AllSessions() {
  useTitle("Sessions")
  return html`<div class="view">
    <h1>Sessions</h1>
    <${SessionList} />
  </div>`
}

export function SessionList({ folder }: { folder?: string }) {
  const search = useSignal("")
  const state = useSignal("")
  const chosen = useSignal<Session | undefined>(undefined)
  const asking = askingSessions()
  const found = sessions.value.filter(
    (session) =>
      (folder === undefined || session.directory === folder) &&
      isIn(state.value, session, asking) &&
      (search.value === "" || isFound(session, search.value)),
  )
  const part = partOf(folder)
  const isNarrowed = search.value !== "" || state.value !== ""
  useEffect(
    () => attempt(() => (isNarrowed ? loadAll : loadFirst)(folder)),
    [folder, search.value, state.value, part],
  )
  return html`
    <div class="tools">
      <${Search} text=${search} label="Search sessions" />
      <${Choice} label="State" value=${state.value} options=${states} onChoose=${(value: string) => {
        state.value = value
      }} />
      <${FolderChoice} folder=${folder} />
      ${may("member") ? html`<button type="button" class="primary" onClick=${() => attempt(() => create(folder))}>New session</button>` : null}
    </div>
    <${Asking} folder=${folder} />
    <p class="dim pad small" role="status">${countWords(found.length, { part, isNarrowed })}</p>
    ${part && !part.hasMore && !found.length ? html`<${Empty}>${isNarrowed ? "No session matches." : "No session here yet."}<//>` : null}
    <${WindowedRows}
      items=${found}
      label="Sessions"
      more=${part?.hasMore ? part : undefined}
      onEnd=${() => attempt(() => loadMore(folder))}
      keyOf=${({ id }: Session) => id}
      draw=${(session: Session) =>
        html`<${Row}
          session=${session}
          asks=${asking.get(session.id) ?? 0}
          onMore=${() => {
            chosen.value = session
          }}
        />`}
    />
    ${
      chosen.value
        ? html`<${SessionActions}
            session=${chosen.value}
            onClose=${() => {
              chosen.value = undefined
            }}
          />`
        : null
    }
  `
}

/** A part of the sessions is not counted as all of them. */
function countWords(
  found: number,
  { part, isNarrowed }: { part: ReturnType<typeof partOf>; isNarrowed: boolean },
): string {
  if (!part) return "Loading…"
  const rest = isNarrowed ? ", reading older ones…" : ", the last used"
  return `${counted(found, "session")}${part.hasMore ? rest : ""}`
}

function FolderChoice({ folder }: { folder: string | undefined }) {
  const known = folders.value
  const all = folder !== undefined && !known.includes(folder) ? [folder, ...known] : known
  const options = [["", "All folders"], ...all.map((path) => [path, shortPath(path)])] as [string, string][]
  if (partOf()?.hasMore) options.push([otherFolders, "Other folders…"])
  const choose = (path: string) =>
    path === otherFolders ? attempt(loadAll) : go(path ? address("folder", path).slice(1) : "/")
  return html`<${Choice} label="Folder" value=${folder ?? ""} options=${options} onChoose=${choose} />`
}

/** The questions themselves, so that a person can go to each. One without a session is answered here. */
function Asking({ folder }: { folder: string | undefined }) {
  const open = questions.value.filter(({ directory }) => folder === undefined || directory === folder)
  const chosen = useSignal("")
  const answered = open.find(({ request }) => request.id === chosen.value)
  const choose = (id: string) => {
    chosen.value = id
  }
  if (!open.length) return null
  return html`<section class="asking" aria-label="Waiting for an answer">
    <ul>
      ${open.slice(0, maxQuestions).map(({ kind, request }) => {
        const title =
          kind === "permission"
            ? request.needs.map(({ target }) => target).join(", ") || request.title
            : request.message
        const session = request.sessionId === undefined ? undefined : findSession(request.sessionId)
        const text = html`<strong>${request.sessionId === undefined ? "A server" : session?.title || "Untitled"}</strong> asks about <code>${title}</code>`
        return html`<li key=${request.id}>
          ${
            request.sessionId === undefined
              ? html`${text} <button type="button" class="small" onClick=${() => choose(request.id)}>Answer…</button>`
              : html`<a href=${address("session", request.sessionId)}>${text}</a>`
          }
        </li>`
      })}
    </ul>
    ${open.length > maxQuestions ? html`<p class="dim">${open.length - maxQuestions} more</p>` : null}
    ${
      answered
        ? html`<${Dialog} title="A question" onClose=${() => choose("")}>
            ${() => html`<${AnyQuestion} question=${answered} onShown=${() => {}} onSend=${() => {}} more="" />`}
          <//>`
        : null
    }
  </section>`
}

function Row({ session, asks, onMore }: { session: Session; asks: number; onMore(): void }) {
  const { id, title, directory, status, usage, agent, time } = session
  const tokens = usage.input + usage.output
  return html`<a class="row" href=${address("session", id)}>
      <span class="row-head">
        <span class="title">${title || "Untitled"}</span>
        ${asks ? html`<strong class="waits">${counted(asks, "question")}</strong>` : null}
        <span class="state" data-state=${status}>${stateWords(status)}</span>
      </span>
      <span class="row-facts">
        <span title=${directory}>${shortPath(directory)}</span>
        <span>${agent}</span>
        <span>${tokens ? `${count(tokens)} tokens · ${money(usage.cost)}` : ""}</span>
        <time datetime=${new Date(time.updated).toISOString()}>${ago(time.updated)}</time>
      </span>
    </a>
    ${mayChange(session) ? html`<button type="button" class="more" aria-label=${`More for ${title || "Untitled"}`} aria-haspopup="dialog" onClick=${onMore}>⋯</button>` : null}`
}

/** How many questions each session asks; those of a task count for the session that gave it. */
function askingSessions(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { request } of questions.value) {
    let id = request.sessionId
    for (let depth = 0; depth < maxDepth && id !== undefined; depth++)
      id = findSession(id)?.taskOf?.sessionId ?? id
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

function isIn(state: string, session: Session, asking: Map<string, number>): boolean {
  if (state === "asks") return session.status === "waiting" || asking.has(session.id)
  return state === "" || session.status === state
}

/** An id is found by its beginning only: its other characters are random, and would be found by any short number. */
function isFound({ id, title, directory, agent, status }: Session, search: string): boolean {
  return id.startsWith(search.trim()) || matches(`${title} ${directory} ${agent} ${status}`, search)
}

async function create(folder: string | undefined): Promise<void> {
  const session = await clientFor(folder).createSession({})
  putSession(session)
  go(address("session", session.id).slice(1))
}
