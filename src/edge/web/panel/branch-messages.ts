// The messages of a branch, each in a line, the newest at the end, with what a person can do at one of them.
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Branch, Message } from "#client/client.ts"
import { controlWords } from "#client/control-words.ts"
import { wordsOf } from "#client/describe-call.ts"
import { html } from "#edge/web/base/html.ts"
import { address, go } from "#edge/web/base/router.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"
import { mayChange } from "#edge/web/store/person.ts"
import { attempt } from "#edge/web/store/problems.ts"
import { putSession } from "#edge/web/store/sessions.ts"

const pageSize = 40
const maxText = 160

export function BranchMessages({
  branch,
  names,
  open,
}: {
  branch: Branch
  names: string[]
  open: OpenSession
}) {
  const messages = useSignal<readonly Message[]>([])
  const chosen = useSignal<string | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    attempt(async () => {
      const read = await open.client.listMessages({
        id: open.id,
        branch: branch.name,
        last: String(pageSize),
      })
      if (!isOver) messages.value = read
    })
    return () => {
      isOver = true
    }
  }, [branch.name, branch.tip])
  const [oldest] = messages.value
  const readEarlier = () =>
    attempt(async () => {
      const found = await open.client.listMessages({
        id: open.id,
        before: oldest!.id,
        last: String(pageSize),
      })
      // The button may have been pressed twice, or the branch read again.
      if (messages.value[0]?.id === oldest!.id) messages.value = [...found, ...messages.value]
    })
  if (!branch.tip) return html`<p class="dim">No messages yet.</p>`
  return html`
    ${oldest?.parentId ? html`<button type="button" onClick=${readEarlier}>Earlier messages</button>` : null}
    <ol class="lines">
      ${messages.value.flatMap((message) => {
        const text = lineOf(message)
        if (text === undefined) return []
        return html`<li key=${message.id} data-origin=${message.id === branch.from?.messageId}>
          <button
            type="button"
            class="line-button"
            aria-expanded=${message.id === chosen.value ? "true" : "false"}
            onClick=${() => {
              chosen.value = message.id === chosen.value ? undefined : message.id
            }}
          >
            <span class="dim">${whoOf(message)}</span> ${text}
          </button>
          ${message.id === chosen.value && mayChange(open.session()) ? html`<${Actions} message=${message} names=${names} open=${open} />` : null}
          ${message.id === branch.from?.messageId ? html`<p class="dim">${branch.name} begins here.</p>` : null}
        </li>`
      })}
    </ol>
  `
}

function Actions({ message, names, open }: { message: Message; names: string[]; open: OpenSession }) {
  const name = useSignal(freeName(names))
  const create = (event: Event) => {
    event.preventDefault()
    attempt(() => open.client.switchBranch({ id: open.id, name: name.value.trim(), from: message.id }))
  }
  const fork = () =>
    attempt(async () => {
      const session = await open.client.forkSession({ id: open.id, messageId: message.id })
      putSession(session)
      go(address("session", session.id).slice(1))
    })
  return html`<form class="actions" onSubmit=${create}>
    <input
      aria-label="Name of the new branch"
      value=${name.value}
      required
      maxlength="64"
      onInput=${(event: InputEvent) => {
        name.value = (event.target as HTMLInputElement).value
      }}
    />
    <button type="submit" class="primary">Branch from here</button>
    <button type="button" onClick=${fork}>Fork into a new session</button>
  </form>`
}

function freeName(names: string[]): string {
  let number = names.length
  while (names.includes(`try-${number}`)) number++
  return `try-${number}`
}

function whoOf(message: Message): string {
  if (message.type === "text") return message.data.role === "user" ? "you" : message.data.role
  return message.type === "tool_request" ? "call" : "note"
}

/** Results are left out: their calls are there. */
function lineOf(message: Message): string | undefined {
  switch (message.type) {
    case "text":
      return (
        message.data.parts
          .flatMap((part) => (part.type === "text" ? part.text : []))
          .join(" ")
          .slice(0, maxText) || undefined
      )
    case "tool_request":
      return message.data.calls
        .map((call) => wordsOf(call, call.name))
        .map(({ verb, subject }) => `${verb} ${subject}`)
        .join(", ")
        .slice(0, maxText)
    case "system_control":
      return controlWords(message.data).slice(0, maxText)
    default:
      return undefined
  }
}
