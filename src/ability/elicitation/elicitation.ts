// Questions of MCP servers and of the vault to a person (elicitation): published, and open until somebody answers, the time is up, or
// the answer is no longer needed. Any edge can subscribe to them and answer.
import { z } from "zod"
import { problemOf } from "#client/check-form.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { plainText } from "#util/plain-text.ts"
import { Content, Field, fieldsOf } from "./elicitation-form.ts"

export { problemOf, readTyped } from "#client/check-form.ts"
export type { Field } from "./elicitation-form.ts"

export const Request = z.object({
  id: about("The question, for `POST /elicitation/:id/respond`.", z.string()),
  server: z.string().optional().describe("the MCP server that asks; without it vitamin itself does"),
  sessionId: z.string().optional().describe("the session of the call, if it is known"),
  mode: about("A form to fill in, or a page to open.", z.enum(["form", "url"])),
  message: z.string().describe("the server's text, with hidden characters made visible"),
  fields: z.array(Field).optional().describe("form: what is to be filled in"),
  url: z
    .string()
    .optional()
    .describe("url: the page that the person should open; it is never opened automatically"),
  time: about("When it was asked, in milliseconds since 1970.", z.number()),
  expires: z.number().describe("when it counts as cancelled, in milliseconds since 1970"),
})
export type Request = z.infer<typeof Request>

export const Reply = z.object({
  action: z.enum(["accept", "decline", "cancel"]),
  content: Content.optional().describe("the values of the form, if it is accepted"),
})
export type Reply = z.infer<typeof Reply>
const By = z.enum(["person", "time", "end", "nobody"])
type Answer = Reply & { by: z.infer<typeof By> }

export const Requested = Bus.define("elicitation.requested", Request, {
  when: "An MCP server, or vitamin's vault, asks the person something.",
})
export const Replied = Bus.define(
  "elicitation.replied",
  z.object({
    id: about("The question.", z.string()),
    server: about("The server that asked; without it vitamin did.", z.string().optional()),
    sessionId: about("The session of the call, if it is known.", z.string().optional()),
    action: about("What the person did.", Reply.shape.action),
    by: about(
      "Who answered: a person, the time limit, or the end of the call; nobody if no listener of an embedding program took it.",
      By,
    ),
  }),
  { when: "A question was answered. What was filled in goes to the one that asked alone." },
)

/** What a server asks: to fill in a form, or to visit a page. */
export type Question =
  | { mode: "form"; message: string; schema: Record<string, unknown> }
  | { mode: "url"; message: string; url: string }
type Asking = {
  server?: string
  sessionId?: string | undefined
  question: Question
  signal: AbortSignal
  /** Declined at once if no subscriber of `Requested` takes it. */
  onlyListeners?: boolean
}

const limit = 600_000
const maxMessage = 4_000
const maxUrl = 4_000

const open = Instance.state(
  () => new Map<string, { request: Request; settle(answer: Answer): void }>(),
  (all) => {
    for (const { settle } of [...all.values()]) settle({ action: "cancel", by: "end" })
  },
)

/** Asks the person of another process. */
export type Asker = (asking: Asking) => Promise<Answer | undefined>
const elsewhere = Instance.state((): { ask?: Asker } => ({}))

/** Ask all questions of this instance through another process. */
export function useAsker(ask: Asker): void {
  elsewhere().ask = ask
}

export class InvalidReply extends NamedError {
  constructor(reason: string) {
    super("Elicitation.InvalidReply", `The reply cannot be used: ${reason}`)
  }
}

/** Ask, and wait for the answer. Undefined if it cannot be shown to a person. */
export async function ask(asking: Asking): Promise<Answer | undefined> {
  const { server, sessionId, question, signal, onlyListeners } = asking
  const asker = elsewhere().ask
  if (asker) return asker(asking)
  const body = bodyOf(question, server)
  if (!body) return undefined
  if (signal.aborted) return { action: "cancel", by: "end" }
  const all = open()
  const time = Date.now()
  const id = createId("elic")
  const message = plainText(question.message, maxMessage)
  const head = { id, ...(server === undefined ? {} : { server }), ...(sessionId ? { sessionId } : {}) }
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const settle = (answer: Answer) => {
    if (!all.delete(id)) return
    Bus.publish(Replied, { ...head, action: answer.action, by: answer.by })
    resolve(answer)
  }
  const request: Request = { ...head, mode: question.mode, message, ...body, time, expires: time + limit }
  all.set(id, { request, settle })
  const end = () => settle({ action: "cancel", by: "end" })
  signal.addEventListener("abort", end, { once: true })
  const timer = setTimeout(() => settle({ action: "cancel", by: "time" }), limit)
  const unheard = () => settle({ action: "decline", by: "nobody" })
  Bus.publish(Requested, request, onlyListeners ? unheard : undefined)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", end)
  }
}

/** All open questions, oldest first. */
export function pending(): Request[] {
  return [...open().values()].map(({ request }) => request)
}

/** Answers a question. Content that does not fit the form is refused, and the question stays open. */
export function reply(id: string, given: Reply): void {
  const one = open().get(id)
  if (!one)
    throw new NamedError(
      "Elicitation.NotFound",
      `Question ${JSON.stringify(id)} does not exist, or was answered already. GET /elicitation/pending lists what is open.`,
      { id },
    )
  const { action, content = {} } = given
  const { fields } = one.request
  const isForm = action === "accept" && fields !== undefined
  const problem = isForm ? problemOf(fields, content) : undefined
  if (problem) throw new InvalidReply(problem)
  one.settle({ action, ...(isForm ? { content } : {}), by: "person" })
}

function bodyOf(question: Question, server: string | undefined): Pick<Request, "fields" | "url"> | undefined {
  if (question.mode === "form") {
    const fields = fieldsOf(question.schema)
    return fields && { fields: server === undefined ? fields : fields.map(withoutHiding) }
  }
  const url = URL.parse(question.url)
  if (!url || !/^https?:$/.test(url.protocol) || url.href.length > maxUrl) return undefined
  // "https://bank.example@elsewhere.example" is read as the first and leads to the second.
  if (url.username || url.password) return undefined
  // In normalised form: look-alike letters become visible in the host.
  return { url: url.href }
}

/** Hidden input is a sign of vitamin's own questions: a server that has it could pass for the vault. */
function withoutHiding(field: Field): Field {
  const { format, ...rest } = field
  return format === "password" ? rest : field
}
