// Branches of the session: list, switch and create them, and go back to an earlier message.
import { type Command, type Context, sessionOf } from "./context.ts"
import { isPrompt, textOf } from "./message-text.ts"
import { countOf, timeAgo } from "./words.ts"

export const branchCommand: Command = {
  name: "branch",
  about: "switch to a branch of the session, or begin one",
  argument: "[name]",
  async values({ client, session }) {
    const branches = session === undefined ? [] : await client.listBranches({ id: session })
    return branches.map(({ name, count }) => ({
      value: name,
      about: countOf(count, "message"),
      isFree: true,
    }))
  },
  async run(context, rest) {
    const { client, show, say } = context
    const { id } = sessionOf(context)
    const branches = await client.listBranches({ id })
    const name = rest || (await ask())
    if (!name || branches.some((one) => one.active && one.name === name)) return
    const isKnown = branches.some((one) => one.name === name)
    await client.switchBranch({ id, name })
    if (isKnown) await show(id)
    else say(`the branch ${name} begins here`)

    function ask(): Promise<string | undefined> {
      const items = branches.map((one) => ({
        value: one.name,
        label: one.name,
        detail: countOf(one.count, "message") + (one.from ? `, from ${one.from.branch}` : ""),
        isCurrent: one.active,
      }))
      return context.ask.choose({ title: "Branch, /branch NAME begins one", items })
    }
  },
}

/** The person chooses one of the earlier prompts. A new branch begins before it, and its text comes back to be changed. */
export async function goBack(context: Context): Promise<void> {
  const { client, talk, say, edit } = context
  const id = talk.session?.id
  const prompts = id === undefined ? [] : (await client.listMessages({ id })).filter(isPrompt)
  if (id === undefined || !prompts.length) return say("there is no earlier message to go back to")
  const items = prompts.toReversed().map((message) => ({
    value: message,
    label: textOf(message).trim().replace(/\s+/g, " "),
    detail: timeAgo(message.time),
  }))
  const chosen = await context.ask.choose({ title: "Go back to", items })
  if (!chosen) return
  const names = new Set((await client.listBranches({ id })).map(({ name }) => name))
  let number = names.size + 1
  while (names.has(`branch-${number}`)) number++
  await client.switchBranch({ id, name: `branch-${number}`, from: chosen.parentId })
  edit(textOf(chosen))
  say("a branch begins before this message; the files stay as they are")
}
