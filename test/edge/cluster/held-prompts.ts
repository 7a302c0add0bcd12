// A model that holds each answer until the test releases it, so that the prompts which run at one moment can be counted.
import assert from "node:assert/strict"
import { type FakeLlm, fakeLlm, text } from "../../fixture/fake-llm.ts"
import type { Fleet, Worker } from "./harness.ts"

/** The text of a prompt is `PERSON PROJECT NUMBER`, such as `ada p 1`. */
export type HeldPrompts = {
  llm: FakeLlm
  /** The prompts that run now, the oldest first. */
  running: string[]
  /** All prompts in the order in which they began. One that goes on at another worker begins again. */
  began: string[]
  /** The most that ran at once: of one person, of one project, and together. */
  most: { person: number; project: number; fleet: number }
  /** Answer a prompt that runs. */
  release(prompt: string): void
} & AsyncDisposable

export async function holdPrompts(): Promise<HeldPrompts> {
  const waiting = new Map<string, () => void>()
  const running: string[] = []
  const began: string[] = []
  const most = { person: 0, project: 0, fleet: 0 }
  const end = (prompt: string) => {
    waiting.delete(prompt)
    if (running.includes(prompt)) running.splice(running.indexOf(prompt), 1)
  }
  const llm = await fakeLlm(async ({ messages }, _turn, signal) => {
    // A turn that goes on elsewhere has a note behind the prompt.
    const [prompt] = messages.flatMap(({ text }) => text.match(/\b(ada|bob|owner) [pq] \d+/)?.[0] ?? []) as [
      string,
    ]
    began.push(prompt)
    running.push(prompt)
    most.fleet = Math.max(most.fleet, running.length)
    most.person = Math.max(most.person, largest(running.map((one) => one.split(" ")[0]!)))
    most.project = Math.max(most.project, largest(running.map((one) => one.split(" ")[1]!)))
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.set(prompt, resolve)
    signal.addEventListener("abort", () => end(prompt))
    await promise
    return text(`Answer to ${prompt}.`)
  })
  return {
    llm,
    running,
    began,
    most,
    release(prompt) {
      const answer = waiting.get(prompt)
      assert.ok(answer, `${prompt} does not run`)
      end(prompt)
      answer()
    },
    [Symbol.asyncDispose]: () => llm[Symbol.asyncDispose](),
  }
}

function largest(names: string[]): number {
  return Math.max(...[...Map.groupBy(names, (name) => name).values()].map((group) => group.length))
}

/** A person with a token of their own, who prompts new sessions. */
export type Prompter = {
  headers: Record<string, string>
  /** Sends a prompt to a new session, and does not wait for its end. */
  prompt(
    worker: Worker,
    words: string,
  ): Promise<{ id: string; status: number; body: unknown; headers: Headers }>
}

/** Without a name: the owner. `directory`: the project. */
export async function prompterOf(
  fleet: Fleet,
  name: string | undefined,
  directory?: string,
): Promise<Prompter> {
  const [worker] = fleet.workers
  const role = directory === undefined ? "member" : "admin"
  const created = name && (await worker!.call("POST", "/token", { name, role }))
  if (created) assert.equal(created.status, 200, JSON.stringify(created.body))
  const headers = {
    ...(created ? { authorization: `Bearer ${created.body.token}` } : {}),
    ...(directory ? { "x-vitamin-directory": directory } : {}),
  }
  return {
    headers,
    async prompt(at, words) {
      const { status, body } = await at.call("POST", "/session", {}, headers)
      assert.equal(status, 200, JSON.stringify(body))
      const response = await fetch(`${at.url}/session/${body.id}/message`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${at.token}`,
          "content-type": "application/json",
          prefer: "respond-async",
          ...headers,
        },
        body: JSON.stringify({ text: words }),
      })
      return { id: body.id, status: response.status, body: await response.json(), headers: response.headers }
    },
  }
}
