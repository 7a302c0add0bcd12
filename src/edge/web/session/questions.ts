// The questions that wait for a person: of the session, and of sessions that do tasks for it. One that is answered elsewhere
// disappears.
import { useEffect, useRef } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { findSession, isPartOf, type Question, questions } from "#edge/web/store/sessions.ts"

const FormQuestion = lazy(async () => (await import("./form-question.ts")).FormQuestion)
const PermissionQuestion = lazy(async () => (await import("./permission-question.ts")).PermissionQuestion)

export function Questions({ sessionId }: { sessionId: string }) {
  const open = questions.value.filter(
    ({ request }) => request.sessionId === undefined || isPartOf(request.sessionId, sessionId),
  )
  const [first] = open
  const box = useRef<HTMLDivElement>(null)
  const hadFocus = useRef(false)
  const composer = () => document.querySelector<HTMLTextAreaElement>(".composer textarea")
  const onShown = () => {
    const active = document.activeElement
    // The person may have begun to type an answer.
    if (box.current?.contains(active)) return
    // Who is writing goes on writing; the question is announced.
    const isFree = active === document.body || (active === composer() && !composer()?.value)
    if (isFree || hadFocus.current) box.current?.querySelector<HTMLElement>(".question")?.focus()
  }
  /** The person has answered here. If another client has, the rest of what is being typed, perhaps a password, must not go
   * into a prompt. */
  const isOwn = useRef(false)
  const onSend = () => {
    isOwn.current = true
  }
  useEffect(() => {
    if (!first && hadFocus.current && isOwn.current) composer()?.focus()
    if (!first) hadFocus.current = false
    isOwn.current = false
  }, [first?.request.id])
  if (!first) return null
  return html`<div
    class="questions"
    ref=${box}
    onFocusIn=${() => {
      hadFocus.current = true
    }}
    onFocusOut=${(event: FocusEvent) => {
      // An element that is removed loses the focus to nothing, and the next question takes it.
      if (event.relatedTarget) hadFocus.current = false
    }}
  >
    <${AnyQuestion} key=${first.request.id} question=${first} onShown=${onShown} onSend=${onSend} more=${moreWords(open.length - 1)} />
  </div>`
}

type Asked = { question: Question; onShown(): void; onSend(): void; more: string }

export function AnyQuestion({ question, ...rest }: Asked) {
  const { directory, request } = question
  const session = request.sessionId === undefined ? undefined : findSession(request.sessionId)
  if (session && !mayChange(session))
    return html`<p class="read-only">
      A question waits for somebody who may answer it: ${question.kind === "permission" ? question.request.title : question.request.message}
    </p>`
  return question.kind === "permission"
    ? html`<${PermissionQuestion} directory=${directory} request=${question.request} ...${rest} />`
    : html`<${FormQuestion} directory=${directory} request=${question.request} ...${rest} />`
}

function moreWords(more: number): string {
  return more ? ` ${more === 1 ? "1 more question waits" : `${more} more questions wait`}` : ""
}
