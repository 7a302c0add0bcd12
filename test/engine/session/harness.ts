// A session in its own project with a loopback model and short retry waits. Every request is checked at the end of the
// test.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { LanguageModelV4Prompt } from "@ai-sdk/provider"
import { z } from "zod"
import * as Tool from "#ability/tool/tool.ts"
import type { Input, Timing } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import { promptWith } from "#engine/turn/prompt.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import type * as Message from "#knowledge/message/message.ts"
import { checkPairing } from "../../fixture/check-pairing.ts"
import { env, type FakeLlm, fakeLlm, type Request, type Script, type Wire } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

export type World = {
  tmp: Tmp
  llm: FakeLlm
  session: Session.Info
  /** Every event since the beginning. */
  events: Bus.Event[]
  ask(text: string, more?: Partial<Input>, timing?: Partial<Timing>): Promise<Message.Info>
  messages(): Promise<Message.Info[]>
  status(): Promise<string>
}
type Setting = { wire?: Wire; config?: object; variables?: Record<string, string>; git?: boolean }

export const hasty: Timing = { stall: 1_500, keepEvery: 1_000, reply: 20_000, wait: () => 1 }

export async function inWorld(
  script: Script,
  fn: (world: World) => Promise<unknown>,
  { wire = "chat", config, variables: more, git = false }: Setting = {},
): Promise<void> {
  await using tmp = await tmpdir({ git })
  await using llm = await fakeLlm(script)
  const { variables } = env(llm, wire)
  const own = { ...variables, ...(config ? { VITAMIN_CONFIG: JSON.stringify(config) } : {}), ...more }
  const foreign = Object.keys(process.env).filter((name) =>
    /_(KEY|TOKEN|BASE_URL)$|^VITAMIN_(?!SOAK)|_PROXY$/i.test(name),
  )
  const before = { ...process.env }
  for (const name of foreign) delete process.env[name]
  Object.assign(process.env, own)
  Log.setFile(join(tmp.path, "..", "log"))
  try {
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        const events: Bus.Event[] = []
        Bus.subscribe("*", (event) => void events.push(event))
        const session = await Session.create()
        await fn({
          tmp,
          llm,
          session,
          events,
          ask: (text, input, timing) =>
            promptWith({ sessionId: session.id, text, asks: "wait", ...input }, { ...hasty, ...timing }),
          messages: () => Session.messages(session.id),
          status: async () => (await Session.get(session.id)).status,
        })
      },
    })
    for (const request of llm.requests) checkRequest(request)
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    Log.setFile(undefined)
    for (const name of Object.keys(own)) if (before[name] === undefined) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** Checks that calls and results of a request are paired. Some wire forms send each call separately. */
export function checkRequest({ messages, wire }: Request): void {
  const prompt: LanguageModelV4Prompt = []
  for (const [i, { role, text, calls, results }] of messages.entries()) {
    // Gemini knows calls by their order.
    const idOf = (id: string, j: number) => (wire === "gemini" ? `${calls.length ? i : i - 1} ${j}` : id)
    if (results.length) {
      const content = results.map(({ id }, j) => ({
        type: "tool-result" as const,
        toolCallId: idOf(id, j),
        toolName: "",
        output: { type: "text" as const, value: "" },
      }))
      prompt.push({ role: "tool", content })
    }
    if (role === "user" && text) prompt.push({ role: "user", content: [{ type: "text", text }] })
    if (!calls.length) continue
    const content = calls.map(({ id, name }, j) => ({
      type: "tool-call" as const,
      toolCallId: idOf(id, j),
      toolName: name,
      input: {},
    }))
    const last = prompt.at(-1)
    if (last?.role === "assistant") last.content.push(...content)
    else prompt.push({ role: "assistant", content })
  }
  assert.deepEqual(checkPairing(prompt), { ok: true })
}

/** The words of a text message. */
export function textOf(message: Message.Info | undefined): string {
  assert.equal(message?.type, "text")
  return (message as Message.Of<"text">).data.parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("")
}

export function resultsOf(messages: Message.Info[]): Message.Of<"tool_result">["data"][] {
  return messages.flatMap((message) => (message.type === "tool_result" ? [message.data] : []))
}

/** `user`, `assistant`, `tool_request`, `tool_result`, … */
export function shapeOf(messages: Message.Info[]): string[] {
  return messages.map((message) => (message.type === "text" ? message.data.role : message.type))
}

/** The records of a session's messages on the disk. */
export function filesOf(sessionId: string): string[] {
  return readdirSync(join(Global.data(), "storage", "message", sessionId)).sort()
}

/** A tool of the test. It is read-only, so that it needs no permission. */
export function defineTool(
  id: string,
  execute: (args: { value?: string | undefined }, context: Tool.Context) => Promise<string>,
  options: { readOnly?: boolean } = {},
): void {
  Tool.define(id, () => ({
    description: `The tool ${id} of a test.`,
    parameters: z.object({ value: z.string().optional() }),
    readOnly: options.readOnly ?? false,
    permission: () => [{ permission: "file.read", target: "." }],
    execute,
  }))
}
