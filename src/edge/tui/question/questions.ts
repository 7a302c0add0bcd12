// The open questions of the session and its tasks, one panel after the other. A question that is answered elsewhere, in
// another terminal for example, goes away.
import type { Client, ElicitationRequest, PermissionRequest, StreamEvent } from "#client/client.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import type { Open } from "./panel.ts"
import { createPermissionPanel, type PermissionReply } from "./permission-panel.ts"

type Question =
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
  /** A question appears: the person may be elsewhere. */
  asked(title: string): void
  /** When the person last typed. */
  typedAt(): number
}

/** Milliseconds: who has typed so recently may not have seen the question. */
const recent = 1_000
const quiet = 600

export function createQuestions(options: Options) {
  const waiting: Question[] = []
  let current: { id: string; close(): void } | undefined

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
    try {
      await ask(question)
    } catch (error) {
      options.report(error)
    }
    current = undefined
    void next()
  }

  async function ask(question: Question): Promise<void> {
    const quietUntil = Date.now() - options.typedAt() < recent ? Date.now() + quiet : 0
    if (question.kind === "permission") await askPermission(question.request, quietUntil)
  }

  async function askPermission(request: PermissionRequest, quietUntil: number): Promise<void> {
    options.asked(request.title)
    const reply = await options.open<PermissionReply>((done) => {
      if (current) current.close = () => done(undefined)
      return createPermissionPanel({
        request,
        more: () => waiting.length,
        diff: options.diff,
        showAll: () => options.print(options.diff(request.preview ?? "", options.view())),
        quietUntil,
        done,
      })
    })
    if (!reply) return
    const { notice } = await options.client.replyPermission({ id: request.id, ...reply })
    if (notice) options.report(new Error(notice))
  }

  function apply(event: StreamEvent): void {
    if (event.type === "permission.requested") add({ kind: "permission", request: event.payload })
    if (event.type === "elicitation.requested") add({ kind: "elicitation", request: event.payload })
    if (event.type === "permission.replied" || event.type === "elicitation.replied") remove(event.payload.id)
  }

  return Object.freeze({
    apply,
    /** The questions that were open before this terminal. */
    async load(isOurs: (sessionId: string | undefined) => boolean): Promise<void> {
      const { client } = options
      const [permissions, elicitations] = await Promise.all([
        client.listPermissions(),
        client.listElicitations(),
      ])
      for (const request of permissions) if (isOurs(request.sessionId)) add({ kind: "permission", request })
      for (const request of elicitations) if (isOurs(request.sessionId)) add({ kind: "elicitation", request })
    },
    count: () => waiting.length + Number(current !== undefined),
  })
}
