// The open questions of the session and its tasks, one panel after the other. A question that is answered elsewhere, in
// another terminal for example, goes away, unless the person is typing a password into it.
import {
  type Client,
  ClientError,
  type ElicitationRequest,
  type PermissionRequest,
  type StreamEvent,
} from "#client/client.ts"
import { needWords } from "#client/permission-words.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { createElicitationPanel, type ElicitationPanel } from "./elicitation-panel.ts"
import type { Open, Panel } from "./panel.ts"
import { createPermissionPanel } from "./permission-panel.ts"

export type Question =
  | { kind: "permission"; request: PermissionRequest }
  | { kind: "elicitation"; request: ElicitationRequest }

type Options = {
  client: Client
  open: Open
  /** Draws a unified diff. */
  diff(preview: string, view: View): Line[]
  print(lines: Line[]): void
  view(): View
  report(error: unknown): void
  /** The person has allowed all edits of the session. */
  acceptedEdits(): void
  /** A question was opened or closed, or its panel must be drawn again. */
  changed(): void
  /** A question appears: the person may be elsewhere. */
  asked(title: string): void
}

export function createQuestions(options: Options) {
  const waiting: Question[] = []
  let current: { id: string; close(): unknown } | undefined

  function add(question: Question): void {
    const { id } = question.request
    if (current?.id === id || waiting.some(({ request }) => request.id === id)) return
    waiting.push(question)
    void next()
  }

  function remove(id: string): void {
    const at = waiting.findIndex(({ request }) => request.id === id)
    if (at >= 0) waiting.splice(at, 1)
    if (current?.id === id) current.close()
  }

  async function next(): Promise<void> {
    if (current) return
    const question = waiting.shift()
    if (!question) return
    current = { id: question.request.id, close() {} }
    options.changed()
    try {
      await ask(question)
    } catch (error) {
      options.report(error)
    }
    current = undefined
    options.changed()
    void next()
  }

  async function ask(question: Question): Promise<void> {
    const { request } = question
    options.asked(question.kind === "permission" ? titleOf(question.request) : question.request.message)
    await options.open<true>((done, isQuiet) => {
      const left = () => done(undefined)
      const panel = panelOf(question, { isQuiet, left }, (call) => send(request.id, call, done))
      if (current) current.close = () => ("withdraw" in panel && panel.withdraw()) || left()
      return panel
    })
  }

  function panelOf(
    question: Question,
    { isQuiet, left }: { isQuiet(): boolean; left(): void },
    answer: (call: () => Promise<{ replied: true; notice?: string }>) => Promise<string | undefined>,
  ): Panel | ElicitationPanel {
    const { client, diff, changed } = options
    const shared = { more: () => waiting.length, isQuiet, changed }
    if (question.kind === "elicitation") {
      const { request } = question
      return createElicitationPanel({
        ...shared,
        request,
        left,
        reply: (reply) => answer(() => client.replyElicitation({ id: request.id, ...reply })),
      })
    }
    const { request } = question
    return createPermissionPanel({
      ...shared,
      request,
      diff,
      showAll: (draw) => options.print(draw(options.view())),
      reply: (reply) =>
        answer(async () => {
          const replied = await client.replyPermission({ id: request.id, ...reply })
          if (reply.edits) options.acceptedEdits()
          return replied
        }),
    })
  }

  /** Returns why the answer was refused; the panel then stays open. */
  async function send(
    id: string,
    call: () => Promise<{ replied: true; notice?: string }>,
    done: (value: true | undefined) => void,
  ): Promise<string | undefined> {
    try {
      const { notice } = await call()
      if (notice) options.report(new Error(notice))
    } catch (error) {
      // Somebody else was faster.
      const isGone = error instanceof ClientError && error.status === 404
      if (!isGone && current?.id === id) return error instanceof Error ? error.message : String(error)
    }
    done(true)
    return undefined
  }

  /** `isOurs`: it is about the session or a task of it. A server may ask without a session. */
  function apply(event: StreamEvent, isOurs: boolean): void {
    if (event.type === "permission.requested" && isOurs) add({ kind: "permission", request: event.payload })
    if (event.type === "elicitation.requested" && (isOurs || event.payload.sessionId === undefined))
      add({ kind: "elicitation", request: event.payload })
    if (event.type === "permission.replied" || event.type === "elicitation.replied") remove(event.payload.id)
  }

  return Object.freeze({
    apply,
    /** These are open, and no others. */
    show(open: readonly Question[]): void {
      const ids = new Set(open.map(({ request }) => request.id))
      for (const { request } of [...waiting]) if (!ids.has(request.id)) remove(request.id)
      if (current && !ids.has(current.id)) remove(current.id)
      for (const question of open) add(question)
    },
    count: () => waiting.length + Number(current !== undefined),
  })
}

function titleOf({ needs, title }: PermissionRequest): string {
  return needs.length ? `${needs.map(needWords).join(", ")}?` : title
}
