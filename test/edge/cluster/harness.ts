// Several `vitamin serve` processes over one PostgreSQL, with a shared folder and a scripted model.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import type { Child } from "../../fixture/child.ts"
import { serving } from "../../fixture/cli.ts"
import { env, type FakeLlm } from "../../fixture/fake-llm.ts"
import { type TmpDatabase, tmpDatabase } from "../../fixture/postgres.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"

export type Worker = {
  child: Child
  url: string
  token: string
  /** The status and the body of an answer. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  signal(name: NodeJS.Signals): void
}
type Json = ReturnType<typeof JSON.parse>
export type Answer = { status: number; body: Json }

export type Fleet = {
  tmp: Tmp
  database: TmpDatabase
  workers: Worker[]
  /** One more worker. `database`: another address of the same database. */
  start(options?: { database?: string; args?: string[] }): Promise<Worker>
  /** The worker that works on a session. */
  holder(sessionId: string): Promise<Worker>
} & AsyncDisposable

export async function startFleet(count: number, llm: FakeLlm): Promise<Fleet> {
  const tmp = await tmpdir({ git: true })
  const database = await tmpDatabase()
  const workers: Worker[] = []
  const start: Fleet["start"] = async (options = {}) => {
    const variables = { ...env(llm, "chat").variables, VITAMIN_DATABASE: options.database ?? database.url }
    const { child, url, tokenFile } = await serving(tmp, ["--trust", ...(options.args ?? [])], variables)
    const worker = workerOf(child, url, readFileSync(tokenFile, "utf8").trim())
    workers.push(worker)
    return worker
  }
  for (let n = 0; n < count; n++) await start()
  return {
    tmp,
    database,
    workers,
    start,
    async holder(sessionId) {
      let found: Worker | undefined
      await until(async () => {
        const text = "select worker from vitamin.lease where session = $1"
        const [row] = await database.query<{ worker: string }>(text, [sessionId])
        found = row && workers.find(({ child }) => row.worker.includes(`-${child.process.pid}-`))
        return found
      }, "the lease")
      return found!
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map(({ child }) => child[Symbol.asyncDispose]()))
      await database[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

function workerOf(child: Child, url: string, token: string): Worker {
  return {
    child,
    url,
    token,
    async call(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    signal: (name) => void child.process.kill(name),
  }
}

export async function newSession(worker: Worker): Promise<string> {
  const { status, body } = await worker.call("POST", "/session", {})
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

export const bash = { allow: ["bash.execute", "file.write", "file.edit"] }

/** The messages of a session as short words: `user: …`, `assistant: …`, `call write`, `result success`. */
export async function story(worker: Worker, sessionId: string): Promise<string[]> {
  const { body } = await worker.call("GET", `/session/${sessionId}/message`)
  return body.flatMap(wordsOf)
}

function wordsOf({ type, data }: Json): string[] {
  if (type === "text")
    return [`${data.role}: ${data.parts.map((part: { text?: string }) => part.text ?? "").join("")}`]
  if (type === "tool_request") return data.calls.map(({ name }: { name: string }) => `call ${name}`)
  if (type === "tool_result") return [`result ${data.status}`]
  return []
}
