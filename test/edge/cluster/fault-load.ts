// The load of a fault run: clients that each talk to one session after the other through random servers. The model
// answers every prompt with a call that appends a line to a file, and then with a text.
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { call, type Reply, type Request, text } from "../../fixture/fake-llm.ts"
import type { Random } from "../../fixture/random.ts"
import { follow } from "../server/harness.ts"
import { bash, type Worker } from "./harness.ts"

export type Sent = { name: string; session: string; status: number; promptId?: string; took: number }
export type Load = Readonly<{ sent: Sent[]; sessions: string[]; stop(): Promise<void> }> & AsyncDisposable
/** A server that a client may ask now. */
export type Pick = () => Worker

const promptsOfSession = 12
/** A prompt that takes longer counts as lost. */
const patience = 120_000

/** The program that the calls run. */
export const program = "echo $1 $2 >> ran.txt; sleep $3\n"

/** What the model answers. Each call has a name of its own, and says for which prompt it is. */
export function createScript(random: Random): (request: Request) => Reply {
  let calls = 0
  return ({ messages }) => {
    const at = messages.findLastIndex(({ role, text }) => role === "user" && /Prompt \w+\./.test(text))
    // Prompts that follow each other without an answer arrive as one message.
    const name = [...(messages[at]?.text ?? "").matchAll(/Prompt (\w+)\./g)].at(-1)?.[1]
    const options = { delay: 10 + random(60) }
    const isOver = messages.slice(at + 1).some(({ results }) => results.length > 0)
    if (isOver) return text(`Done ${name}.`, options)
    return call("bash", { command: `sh run.sh ${name} c${++calls} 0.${random(3)}` }, options)
  }
}

export function startLoad(clients: number, pick: Pick, random: Random): Load {
  const sent: Sent[] = []
  const sessions: string[] = []
  let isOver = false

  async function drive(client: number) {
    for (let number = 0; !isOver; ) {
      const session = await createSession()
      for (let i = 0; i < promptsOfSession && !isOver; i++) {
        await send({ name: `p${client}x${number++}`, session, isAsync: random(2) === 0 })
        await sleep(random(400))
      }
    }
  }

  async function createSession(): Promise<string> {
    for (;;) {
      const answer = await ask(pick(), "POST", "/session", {})
      if (answer.status === 200) {
        sessions.push(answer.body.id)
        return answer.body.id
      }
      await sleep(100)
    }
  }

  async function send({ name, session, isAsync }: { name: string; session: string; isAsync: boolean }) {
    const body = { ...bash, text: `Prompt ${name}.` }
    const began = performance.now()
    const headers: Record<string, string> = isAsync ? { prefer: "respond-async" } : {}
    const answer = await ask(pick(), "POST", `/session/${session}/message`, body, headers)
    const promptId = answer.body?.promptId
    sent.push({ name, session, status: answer.status, promptId, took: performance.now() - began })
  }

  const driving = Array.from({ length: clients }, (_, client) => drive(client))
  async function stop() {
    isOver = true
    await Promise.all(driving)
  }
  return Object.freeze<Load>({ sent, sessions, stop, [Symbol.asyncDispose]: stop })
}

/** Status 0: the server went away. Status 1: it did not answer. */
export async function ask(worker: Worker, ...[method, path, body, headers]: Parameters<Worker["call"]>) {
  const late = sleep(patience, { status: 1, body: undefined as never }, { ref: false })
  const answered = worker
    .call(method, path, body, headers)
    .catch(() => ({ status: 0, body: undefined as never }))
  return Promise.race([answered, late])
}

export type EventClient = Readonly<{
  /** What came: the id of each stored event, and a hash of its text. */
  events: { id: number; hash: string }[]
  errors: Map<string, string>
  gaps: string[]
  lastId(): number
  stop(): Promise<void>
}>

/** Follows the events from one server to the next: when its connection ends, and now and then by itself. */
export function followAcross(pick: Pick, after: number, random: Random): EventClient {
  const events: { id: number; hash: string }[] = []
  const errors = new Map<string, string>()
  const gaps: string[] = []
  let last = after
  let isOver = false
  let drop = () => {}

  async function run() {
    while (!isOver) {
      const stream = follow(pick(), { "last-event-id": String(last) })
      drop = stream.drop
      const timer = setTimeout(drop, 1_000 + random(8_000))
      await stream.closed
      clearTimeout(timer)
      take(stream.frames)
      await sleep(20)
    }
  }

  function take(frames: ReturnType<typeof follow>["frames"]) {
    for (const { id, event, data } of frames) {
      if (event === "gap") gaps.push(data)
      if (id === undefined) continue
      events.push({ id, hash: createHash("sha1").update(data).digest("base64") })
      last = id
      if (event !== "session.error") continue
      const { promptId, error } = JSON.parse(data).payload
      if (promptId) errors.set(promptId, error.name)
    }
  }

  const running = run()
  return Object.freeze<EventClient>({
    events,
    errors,
    gaps,
    lastId: () => last,
    async stop() {
      isOver = true
      drop()
      await running
    },
  })
}
