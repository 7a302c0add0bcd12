// Questions as numbered lines. A line that is no number is for a permission what the agent should do instead, and for a
// form the value of the field.
import { type FormContent, problemWith, readTyped } from "#client/check-form.ts"
import type { Client, ElicitationRequest, PermissionRequest, StreamEvent } from "#client/client.ts"
import { labelOf } from "#edge/tui/question/form-field.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safe, safeLine } from "#edge/tui/screen/safe.ts"
import { wrapTo } from "#edge/tui/screen/width.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"

type Question =
  | { kind: "permission"; request: PermissionRequest }
  | { kind: "elicitation"; request: ElicitationRequest }

type Options = {
  client: Client
  print(lines: readonly Line[]): void
  view(): View
  /** No question is open any more. */
  done(): void
}

/** A numbered line, and what it does. */
type Choice = { text: string; do(): Promise<unknown> }

export function createPlainQuestions({ client, print, view, done }: Options) {
  const waiting: Question[] = []
  let current: { id: string; choices: Choice[]; words(text: string): Promise<unknown> } | undefined

  function say(text: string): void {
    print(
      safe(text)
        .split("\n")
        .flatMap((line) => wrapTo(line, view().columns)),
    )
  }

  function add(question: Question): void {
    const { id } = question.request
    if (current?.id === id || waiting.some(({ request }) => request.id === id)) return
    waiting.push(question)
    if (!current) next()
  }

  function next(): void {
    current = undefined
    const question = waiting.shift()
    if (!question) done()
    else if (question.kind === "permission") askPermission(question.request)
    else askForm(question.request)
  }

  function ask(id: string, choices: Choice[], words: (text: string) => Promise<unknown>): void {
    current = { id, choices, words }
    for (const [i, { text }] of choices.entries()) say(`${i + 1}. ${text}`)
  }

  function askPermission({ id, tool, title, task, needs, preview }: PermissionRequest): void {
    say(needs.length ? `Question: may ${safeLine(tool)} do this?` : `Question: ${safeLine(title)}`)
    if (task) say(`Task: ${safeLine(task)}`)
    for (const { permission, target, parts = [] } of needs) {
      say(`${permission}: ${target}`)
      for (const { from, to, why } of parts) if (why) say(`Risky: ${target.slice(from, to)} (${why})`)
    }
    if (preview) print(diffLines(preview, view()))
    const rules = needs.flatMap((need) => need.rules.map((rule) => `${rule.permission}:${rule.pattern}`))
    const reply = (given: Omit<Parameters<Client["replyPermission"]>[0], "id">) => async () => {
      const { notice } = await client.replyPermission({ id, ...given })
      if (notice) say(notice)
    }
    const always: Choice[] = [
      { text: `Always: ${rules.join(", ")}`, do: reply({ reply: "always" }) },
      { text: "In this session.", do: reply({ reply: "always", scope: "session" }) },
    ]
    const canBeAlways = needs.length > 0 && needs.every((need) => need.rules.length > 0)
    ask(
      id,
      [
        { text: "Yes.", do: reply({ reply: "once" }) },
        ...(canBeAlways ? always : []),
        { text: "No.", do: reply({ reply: "reject" }) },
      ],
      (message) => reply({ reply: "reject", message })(),
    )
    say("Type a number, or what to do instead.")
  }

  function askForm({ id, server, message, url, fields = [] }: ElicitationRequest): void {
    const reply = (action: "accept" | "decline", content?: FormContent) =>
      client.replyElicitation({ id, action, ...(content ? { content } : {}) })
    say(`Question of the server ${safeLine(server)}: ${message}`)
    if (url) say(`Page: ${url}`)
    const content: FormContent = {}
    let at = 0
    const showField = () => {
      const field = fields[at]!
      say(labelOf(field))
      for (const { value, title } of field.options ?? [])
        say(`- ${value}${title === value ? "" : `: ${title}`}`)
    }
    const fill = async (text: string) => {
      const field = fields[at]!
      const value = text === "" ? field.default : readTyped(field, text)
      const problem = value === undefined ? field.required && "it is required" : problemWith(field, value)
      if (problem) say(`${field.name}: ${problem}`)
      else {
        if (value !== undefined) content[field.name] = value
        if (++at === fields.length) return void (await reply("accept", content))
      }
      showField()
      return "more"
    }
    const begin = async () => {
      if (!fields.length) return void (await reply("accept"))
      if (current) Object.assign(current, { choices: [], words: fill })
      showField()
      return "more"
    }
    ask(
      id,
      [
        { text: fields.length ? "Fill in the form." : "Accept.", do: begin },
        { text: "Decline.", do: () => reply("decline") },
      ],
      async () => {
        say("Type a number.")
        return "more"
      },
    )
  }

  /** Takes a line; false if no question is open. */
  async function answer(text: string): Promise<boolean> {
    const asked = current
    if (!asked) return false
    const choice = /^\d+$/.test(text) ? asked.choices[Number(text) - 1] : undefined
    if (asked.choices.length && text === "") return true
    try {
      const isOpen = (await (choice ? choice.do() : asked.words(text))) === "more"
      if (!isOpen && current?.id === asked.id) next()
    } catch (error) {
      say(`Error: ${error instanceof Error ? error.message : String(error)}`)
    }
    return true
  }

  return Object.freeze({
    add,
    answer,
    isAsking: () => current !== undefined,
    apply(event: StreamEvent, isOurs: boolean): void {
      if (event.type === "permission.requested" && isOurs) add({ kind: "permission", request: event.payload })
      if (event.type === "elicitation.requested" && (isOurs || event.payload.sessionId === undefined))
        add({ kind: "elicitation", request: event.payload })
      if (event.type !== "permission.replied" && event.type !== "elicitation.replied") return
      const { id } = event.payload
      const at = waiting.findIndex(({ request }) => request.id === id)
      if (at >= 0) waiting.splice(at, 1)
      if (current?.id === id) next()
    },
  })
}
