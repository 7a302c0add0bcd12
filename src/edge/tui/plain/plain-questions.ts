// The questions of the agent as numbered lines. A line that is no number is for a permission what the agent should do
// instead, and for a form the value of the field.
import { askerWords, type FormContent, problemWith, readTyped } from "#client/check-form.ts"
import {
  type Client,
  ClientError,
  type ElicitationRequest,
  type PermissionRequest,
  type StreamEvent,
} from "#client/client.ts"
import { ruleWords } from "#client/permission-words.ts"
import { labelOf } from "#edge/tui/question/form-field.ts"
import { headLines } from "#edge/tui/question/permission-head.ts"
import type { Question } from "#edge/tui/question/questions.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"
import type { Asked, AskedQueue } from "./asked.ts"

type Options = {
  client: Client
  questions: AskedQueue
  say(text: string): void
  print(lines: readonly Line[]): void
  view(): View
  /** Whether nothing of the next line is shown. */
  setHidden(isHidden: boolean): void
}

/** A numbered line, and what it does. */
type Choice = { text: string; do(): Promise<boolean> | boolean }

export function createPlainQuestions({ client, questions, say, print, view, setHidden }: Options) {
  /** The ids of its questions in the queue, which has others too. */
  const known = new Set<string>()
  /** The id of the form that waits for a password. */
  let hiddenFor: string | undefined
  const add = (asked: Asked) => {
    known.add(asked.id)
    questions.add(asked)
  }
  const remove = (id: string) => {
    known.delete(id)
    if (hiddenFor === id) questions.add(withdrawn(id), { isNext: true })
    questions.remove(id)
  }
  const hide = (id: string | undefined) => {
    hiddenFor = id
    setHidden(id !== undefined)
  }
  /** Takes the line that has the rest of a password, which must not go into a prompt. */
  const withdrawn = (id: string): Asked => ({
    id: `${id} withdrawn`,
    show() {
      setHidden(true)
      say("It was answered elsewhere. Press Enter: what you have typed is thrown away.")
    },
    take() {
      hide(undefined)
      return true
    },
  })
  /** True: the question is over. */
  const send = async (call: () => Promise<{ replied: true; notice?: string }>) => {
    try {
      const { notice } = await call()
      if (notice) say(notice)
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 404) throw error
      say("It was answered elsewhere.")
    }
    return true
  }
  const show = (choices: readonly Choice[]) => {
    for (const [i, { text }] of choices.entries()) say(`${i + 1}. ${text}`)
  }

  /** A line that is no number goes to `words`. */
  function take(choices: readonly Choice[], line: string, words?: (text: string) => Promise<boolean>) {
    const choice = choices[Number(line) - 1]
    if (choice) return choice.do()
    if (words && /\D/.test(line)) return words(line)
    if (line) say(`Type a number from 1 to ${choices.length}.`)
    return false
  }

  function permission(request: PermissionRequest): Asked {
    const { id, needs, preview } = request
    const rules = needs.flatMap((need) => need.rules.map((rule) => `${rule.permission}:${rule.pattern}`))
    const allowed = rules.map((rule) => `${ruleWords(rule)} (${rule})`)
    const reply = (given: Omit<Parameters<Client["replyPermission"]>[0], "id">) =>
      send(() => client.replyPermission({ id, ...given }))
    const canBeAlways = needs.length > 0 && needs.every((need) => need.rules.length > 0)
    /** The rules as the person wants them; undefined until they are changed. */
    let changed: string[] | undefined
    const askRule = (given: string[]) => {
      changed = given
      const place = rules.length > 1 ? ` ${given.length + 1} of ${rules.length}` : ""
      say(`Rule${place}: ${rules[given.length]}`)
      say("Type another one. An empty line keeps it, 0 goes back.")
      return false
    }
    const takeRule = async (given: string[], line: string) => {
      const all = [...given, line || rules[given.length]!]
      if (line !== "0" && all.length < rules.length) return askRule(all)
      changed = undefined
      try {
        if (line !== "0") return await reply({ reply: "always", rules: all })
      } catch (error) {
        say(error instanceof Error ? error.message : String(error))
      }
      show(choices)
      return false
    }
    const choices: Choice[] = [
      { text: "Yes.", do: () => reply({ reply: "once" }) },
      ...(canBeAlways
        ? [
            { text: `Always: ${allowed.join(", ")}`, do: () => reply({ reply: "always" }) },
            { text: "Always, with another rule.", do: () => askRule([]) },
            { text: "In this session.", do: () => reply({ reply: "always", scope: "session" }) },
          ]
        : []),
      { text: "No.", do: () => reply({ reply: "reject" }) },
    ]
    return {
      id,
      show() {
        changed = undefined
        print(["Question:", ...headLines(request, questions.waiting(), view())])
        if (preview) print(diffLines(preview, view()))
        show(choices)
        say("Type a number, or what to do instead.")
      },
      take: (line) =>
        changed
          ? takeRule(changed, line)
          : take(choices, line, (message) => reply({ reply: "reject", message })),
    }
  }

  function form({ id, server, message, url, fields = [] }: ElicitationRequest): Asked {
    const content: FormContent = {}
    /** The field to fill in; undefined before the form is begun. */
    let at: number | undefined
    const isSecret = () => at !== undefined && fields[at]!.format === "password"
    const reply = (action: "accept" | "decline") =>
      send(() =>
        client.replyElicitation({
          id,
          action,
          ...(action === "accept" && fields.length ? { content } : {}),
        }),
      )
    const begin = (next: number) => {
      at = next
      const { options = [], ...field } = fields[at]!
      // First: the password may come as soon as it is asked for.
      if (isSecret()) hide(id)
      say(labelOf(field))
      if (isSecret()) say("Nothing of it is shown.")
      for (const { value, title } of options) say(`- ${value}${title === value ? "" : `: ${title}`}`)
      return false
    }
    /** Ctrl-C is an empty line while nothing is shown, so the person can decline from here. */
    const leave = () => {
      at = undefined
      show(choices)
      return false
    }
    const fill = (at: number, text: string) => {
      const field = fields[at]!
      hide(undefined)
      const value = text === "" ? field.default : readTyped(field, text)
      const problem = value === undefined ? field.required && "it is required" : problemWith(field, value)
      if (problem) {
        say(`${field.name}: ${problem}`)
        return text === "" && isSecret() ? leave() : begin(at)
      }
      if (value !== undefined) content[field.name] = value
      return at + 1 < fields.length ? begin(at + 1) : reply("accept")
    }
    const accept = fields.length
      ? { text: "Fill in the form.", do: () => begin(0) }
      : { text: "Accept.", do: () => reply("accept") }
    const choices: Choice[] = [accept, { text: "Decline.", do: () => reply("decline") }]
    return {
      id,
      show() {
        say(`${safeLine(askerWords(server))} asks: ${message}`)
        if (url) say(`Page: ${url}`)
        show(choices)
      },
      take: (line) => (at === undefined ? take(choices, line) : fill(at, line)),
      isSecret,
    }
  }

  return Object.freeze({
    /** These are open, and no others of the agent. */
    showOpen(open: readonly Question[]): void {
      const now = open.map((one) => (one.kind === "permission" ? permission(one.request) : form(one.request)))
      for (const id of known) if (!now.some((one) => one.id === id)) remove(id)
      for (const one of now) add(one)
    },
    apply(event: StreamEvent, isOurs: boolean): void {
      if (event.type === "permission.requested" && isOurs) add(permission(event.payload))
      if (event.type === "elicitation.requested" && (isOurs || event.payload.sessionId === undefined))
        add(form(event.payload))
      if (event.type === "permission.replied" || event.type === "elicitation.replied")
        remove(event.payload.id)
    },
  })
}
