// A session that does a task for a call: its state, what it does now, what it cost, and its messages when it is opened.
import { useSignal } from "@preact/signals"
import type { FunctionComponent } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Message, Session } from "#client/client.ts"
import { wordsOf } from "#client/describe-call.ts"
import { count, money, stateWords } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { listen } from "#edge/web/store/live.ts"
import { type OpenSession, openSession } from "#edge/web/store/open-session.ts"

/** Messages that are shown inside the call; the link leads to all. */
const maxShown = 30

/** A message in the view of its type. It is given, because a task is itself a part of a message. */
export type ShowMessage = FunctionComponent<{ message: Message; open: OpenSession }>

export function TaskView({ task, View }: { task: Session; View: ShowMessage }) {
  const [opened, setOpened] = useState<OpenSession | undefined>(undefined)
  const activity = useSignal("")
  useEffect(() => {
    if (task.status !== "busy" && task.status !== "waiting") return
    return listen((event) => {
      if (event.type !== "message.created" || event.payload.sessionId !== task.id) return
      activity.value = activityOf(event.payload.message) || activity.value
    })
  }, [task.id, task.status])
  useEffect(() => () => opened?.close(), [opened])
  const { agent, status, usage, title, taskOf } = task
  const isWorking = status === "busy" || status === "waiting"
  return html`<details
    class="task"
    data-state=${status}
    onToggle=${(event: Event) => {
      const { open } = event.target as HTMLDetailsElement
      if (event.target === event.currentTarget && open && !opened) setOpened(openSession(task))
    }}
  >
    <summary>
      <span class="state" data-state=${status}>${status === "idle" ? "Done" : stateWords(status)}</span>
      <strong>${agent}</strong> ${taskOf?.step ? `step ${taskOf.step} ` : ""}${title}
      <span class="dim"> ${count(usage.input + usage.output)} tokens · ${money(usage.cost)}</span>
      ${isWorking ? html`<span class="last-line dim">${activity.value}</span>` : null}
    </summary>
    <a href=${address("session", task.id)}>Open the session of this task</a>
    ${
      opened
        ? opened.messages.value
            .slice(-maxShown)
            .map((message) => html`<${View} key=${message.id} message=${message} open=${opened} />`)
        : null
    }
  </details>`
}

function activityOf(message: Message): string {
  if (message.type !== "tool_request") return ""
  const [call] = message.data.calls
  if (!call) return ""
  const { verb, subject } = wordsOf(call, call.name)
  return `${verb} ${subject}`.slice(0, 200)
}
