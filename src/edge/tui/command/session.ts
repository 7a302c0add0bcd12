// Commands for whole sessions: begin, find, copy and compact them, and show their plan.
import type { Message } from "#client/client.ts"
import { planLines, todosOf } from "#edge/tui/transcript/plan-lines.ts"
import { type Command, sessionOf } from "./context.ts"
import { isPrompt, textOf } from "./message-text.ts"
import { timeAgo } from "./words.ts"

/** Texts of a preview, and the messages that they are looked for in. */
const maxPreview = 4
const maxRead = "40"
/** Characters of an id that tell sessions apart. */
const shortId = 13

export const newCommand: Command = {
  name: "new",
  about: "begin a new session",
  async run({ leave, say }) {
    await leave()
    say("your next prompt begins a new session")
  },
}

export const sessionsCommand: Command = {
  name: "sessions",
  about: "find an earlier session and open it",
  argument: "[id]",
  async values({ client }) {
    const sessions = await client.listSessions()
    return sessions.map(({ id, title }) => ({ value: id.slice(0, shortId), about: title }))
  },
  async run(context, rest) {
    const { client, talk, show, say } = context
    const sessions = await client.listSessions()
    if (!sessions.length) return say("there is no session here yet")
    const named = rest ? sessions.filter(({ id }) => id.startsWith(rest)) : []
    if (rest && named.length !== 1)
      throw new Error(
        named.length ? `"${rest}" fits ${named.length} sessions.` : `There is no session "${rest}".`,
      )
    if (named[0]) return show(named[0].id)
    const items = sessions.map(({ id, title, time, status }) => ({
      value: id,
      label: title,
      detail: [id.slice(0, 13), timeAgo(time.updated), status === "idle" ? "" : status]
        .filter(Boolean)
        .join(", "),
      isCurrent: id === talk.session?.id,
    }))
    const chosen = await context.ask.choose({
      title: "Sessions",
      items,
      preview: async (id) => previewOf(await client.listMessages({ id, last: maxRead })),
    })
    if (chosen !== undefined && chosen !== talk.session?.id) await show(chosen)
  },
}

export const forkCommand: Command = {
  name: "fork",
  about: "continue in a copy of the session",
  async run(context) {
    const { client, talk, say } = context
    const copy = await client.forkSession({ id: sessionOf(context).id })
    talk.use(copy)
    say(`this is the copy, ${copy.id.slice(0, 13)}`)
  },
}

export const compactCommand: Command = {
  name: "compact",
  about: "give the model a summary instead of the older messages",
  async run(context) {
    const { client, say } = context
    const { id } = sessionOf(context)
    const lastOf = async () => (await client.listMessages({ id, last: "1" })).at(-1)?.id
    const before = await lastOf()
    await client.compactSession({ id })
    if ((await lastOf()) === before) say("there is nothing to gain by a compaction yet")
  },
}

export const planCommand: Command = {
  name: "plan",
  about: "show the plan of the session",
  async run(context) {
    const { client, print, view, say } = context
    const todos = todosOf(await client.getPlan({ id: sessionOf(context).id }))
    if (!todos.length) return say("the session has no plan")
    print(planLines(todos, view()))
  },
}

function previewOf(messages: readonly Message[]): string {
  const said = messages.flatMap((message) => {
    const text = textOf(message).trim()
    if (!text) return []
    return [isPrompt(message) ? `> ${text}` : text]
  })
  return said
    .slice(-maxPreview)
    .map((text) => text.replace(/\s+/g, " "))
    .join("\n")
}
