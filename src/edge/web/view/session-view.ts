// One session: its head, the tabs of its panels, the conversation, and where a person writes and answers. On wide screens a
// panel is beside the conversation, on narrow ones in its place; the Tab key leads from its tab into it.
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import { ClientError } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { count, money, shortPath, stateWords } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { PanelBox, Tabs } from "#edge/web/panel/panel-frame.ts"
import { panels } from "#edge/web/panel/panels.ts"
import { Boundary } from "#edge/web/part/boundary.ts"
import { useTitle } from "#edge/web/part/parts.ts"
import { Composer } from "#edge/web/session/composer.ts"
import { Conversation } from "#edge/web/session/conversation.ts"
import { Questions } from "#edge/web/session/questions.ts"
import { listen } from "#edge/web/store/live.ts"
import { type OpenSession, openSession } from "#edge/web/store/open-session.ts"
import { may, mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { findSession, isPartOf, putSession, questions } from "#edge/web/store/sessions.ts"

export function SessionView({ id, tab }: { id: string; tab: string }) {
  const [open, setOpen] = useState<OpenSession | undefined>(undefined)
  const [isRemoved, setRemoved] = useState(false)
  const [isUnknown, setUnknown] = useState(false)
  useEffect(() => {
    let opened: OpenSession | undefined
    let isGone = false
    const stopListening = listen((event) => {
      if (event.type === "session.removed" && event.payload.sessionId === id) setRemoved(true)
    })
    attempt(async () => {
      const known = findSession(id) ?? (await clientFor().getSession({ id }).catch(isNoSession))
      if (isGone) return
      if (!known) return setUnknown(true)
      putSession(known)
      opened = openSession(known)
      setOpen(opened)
    })
    return () => {
      isGone = true
      stopListening()
      opened?.close()
    }
  }, [id])
  const problem = open?.problem.value
  if (isRemoved || problem?.isRemoved) return html`<${Missing}>This session was removed.<//>`
  if (isUnknown) return html`<${Missing}>There is no such session.<//>`
  if (!open) return html`<p class="center" aria-busy="true">Loading…</p>`
  const name = Object.hasOwn(panels, tab) ? tab : ""
  return html`<div class="session" data-panel=${name}>
    <${Head} open=${open} />
    <${Tabs} id=${id} tab=${name} />
    <div class="session-parts">
      ${name ? html`<${PanelBox} name=${name} open=${open} />` : null}
      <div class="talk" id="talk" role=${name ? undefined : "tabpanel"} aria-labelledby=${name ? undefined : "tab-"}>
        ${problem ? html`<${Unread} text=${problem.text} open=${open} />` : null}
        <${Conversation} open=${open} />
        <${Boundary} what="A question"><${Questions} sessionId=${id} /><//>
        <${Foot} open=${open} />
      </div>
    </div>
    <${Announcer} open=${open} />
    <${StopOnEscape} open=${open} />
  </div>`
}

/** Where the person writes, or why they cannot. */
function Foot({ open }: { open: OpenSession }) {
  if (open.isFolderGone.value)
    return html`<p class="read-only">The folder ${open.directory} does not exist any more. The session can be read, but not continued.</p>`
  if (!mayChange(open.session()))
    return html`<p class="read-only">You may read this session, but not prompt it${may("member") ? ": it is shared with you for reading." : ": your role on this server is reader."}</p>`
  return html`<${Composer} open=${open} />`
}

/** Undefined if the server does not know the session. */
function isNoSession(error: unknown): undefined {
  if (error instanceof ClientError && error.status === 404) return undefined
  throw error
}

function Missing({ children }: { children?: ComponentChildren }) {
  useTitle("Not found")
  return html`<p class="center">${children} <a href="#/">All sessions</a></p>`
}

function Unread({ text, open }: { text: string; open: OpenSession }) {
  return html`<p class="error pad" role="alert">
    The session could not be read: ${text} <button type="button" onClick=${open.read}>Try again</button>
  </p>`
}

/** Escape stops the turn, unless it closes something, wherever the focus is. */
function StopOnEscape({ open }: { open: OpenSession }) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return
      const { status } = open.session()
      if ((status === "busy" || status === "waiting") && mayChange(open.session())) attempt(open.stop)
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [open])
  return null
}

/** What happens, for people who do not see it: the conversation itself would be read out letter by letter. */
function Announcer({ open }: { open: OpenSession }) {
  const { status, error } = open.session()
  const [question] = questions.value.filter(({ request }) => isPartOf(request.sessionId ?? "", open.id))
  const text = question
    ? `A question waits: ${question.kind === "permission" ? question.request.title : question.request.message}`
    : status === "busy"
      ? "Working."
      : status === "error"
        ? `Failed: ${error?.message ?? ""}`
        : status === "interrupted"
          ? "Interrupted."
          : ""
  return html`<p class="unseen" role="status" aria-live="polite">${text}</p>`
}

function Head({ open }: { open: OpenSession }) {
  const { title, directory, agent, model, fallbackModel, status, usage, mode } = open.session()
  const name = title || "Untitled"
  useTitle(name)
  return html`<div class="head">
    <h1>${name}</h1>
    <span class="state" data-state=${status} role="status">${stateWords(status)}</span>
    <div class="facts-line dim">
      <a class="dim" href=${address("folder", directory)} title=${directory}>${shortPath(directory)}</a>
      <span class="used">${`${count(usage.input + usage.output)} tokens · ${money(usage.cost)}`}</span>
      <span class="names">${`${agent}${mode === "plan" ? " · plan mode" : ""} · ${model ?? fallbackModel ?? ""}`}</span>
    </div>
  </div>`
}
