// Starts the built command `vitamin a2a serve` in a process of its own, with the SDK's client at the other end.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  Message,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk"
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client"
import { startVitamin } from "../../fixture/cli.ts"
import { call } from "../../fixture/fake-llm.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"

/** A part of an answer as it is on the wire. */
export type Wire = ReturnType<typeof JSON.parse>
export type Served = Awaited<ReturnType<typeof serveA2A>>
type Options = { args?: string[]; env?: Record<string, string>; port?: number }

export async function serveA2A(tmp: Tmp, { args = [], env = {}, port = 0 }: Options = {}) {
  const child = startVitamin(tmp, ["a2a", "serve", "--port", String(port), ...args], env)
  const line = await child.line(/listening/)
  const [, url, tokenFile] = /on (http:\S+)\/a2a \(token in (.+)\)$/.exec(line)!
  const token = readFileSync(tokenFile!, "utf8").trim()
  const headers = { authorization: `Bearer ${token}` }
  const withToken: typeof fetch = (target, init) =>
    fetch(target, { ...init, headers: { ...(init?.headers as Record<string, string>), ...headers } })
  return {
    child,
    url: url!,
    port: Number(new URL(url!).port),
    token,
    fetch: withToken,
    client: (): Promise<Client> =>
      new ClientFactory({
        transports: [new JsonRpcTransportFactory({ fetchImpl: withToken })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl: withToken }),
      }).createFromUrl(url!),
    /** A raw request of JSON-RPC; returns the parsed answer. */
    async rpc(method: string, params: unknown, more: Record<string, string> = {}) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
      const response = await withToken(`${url}/a2a`, { method: "POST", headers: { ...wire, ...more }, body })
      return (await response.json()) as {
        result?: Wire
        error?: { code: number; message: string; data?: Wire[] }
      }
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}

export const wire = { "content-type": "application/json", "a2a-version": "1.0" }

/** A message with one text. */
export function say(
  text: string,
  more: Partial<Message> = {},
  request: Partial<SendMessageRequest> = {},
): SendMessageRequest {
  const message = Message.fromJSON({ messageId: crypto.randomUUID(), parts: [{ text }] })
  return {
    tenant: "",
    message: { ...message, role: Role.ROLE_USER, ...more },
    configuration: undefined,
    metadata: undefined,
    ...request,
  }
}

export const atOnce = {
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: true,
  },
}

/** The task of an answer. This server always answers with one. */
export function taskOf(result: Message | Task): Task {
  if ("messageId" in result) throw new Error("a message came instead of a task")
  return result
}

export function stateOf(task: Task): string {
  return TaskState[task.status!.state]!.replace("TASK_STATE_", "").toLowerCase()
}

/** The text of the results of a task. */
export function resultOf({ artifacts }: Pick<Task, "artifacts">): string {
  return artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")))
    .join("\n")
}

/** The text of the status message. */
export function saidIn(status: Task["status"]): string {
  return (status?.message?.parts ?? [])
    .map(({ content }) => (content?.$case === "text" ? content.value : ""))
    .join("\n")
}

/** An update in a few words: `task working`, `working · bash …`, `result …`. */
export function describe({ payload }: StreamResponse): string {
  if (payload?.$case === "task") return `task ${stateOf(payload.value)}`
  if (payload?.$case === "artifactUpdate")
    return `result ${resultOf({ artifacts: [payload.value.artifact!] })}`
  if (payload?.$case !== "statusUpdate") return payload?.$case ?? "nothing"
  const state = TaskState[payload.value.status!.state]!.replace("TASK_STATE_", "").toLowerCase()
  return `${state} ${saidIn(payload.value.status)}`.trim()
}

/** A call that waits until the test creates the file `go`; `allowed` lets it run without a question. */
export const waiting = call("bash", {
  command: "touch begun; while [ ! -e go ]; do sleep 0.05; done; echo went",
})
export const allowed = ["--allow", "bash.execute"]

export function go(tmp: Tmp): void {
  writeFileSync(join(tmp.path, "go"), "")
}
