// Random parts of a session, as a finished, stopped or dead process would leave them, and which of them every later
// request must contain.
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createRandom } from "../../fixture/random.ts"

export type Choices = ReturnType<typeof createChoices>
type Place = { sessionId: string; branch: string; parentId: string | null }

/** The same choices for the same seed. */
export function createChoices(seed: number) {
  const random = createRandom(seed)
  return {
    below: random,
    chance: (share: number) => random(1_000) < share * 1_000,
    pick: <T>(list: readonly T[]): T => list[random(list.length)]!,
  }
}

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const fillers = [
  "plain words of a file ",
  "世界の言葉を数える",
  '{"key": [1, 22, 333], "b": null}',
  "QmFzZTY0IGlzIGxvbmc9",
  "\n    ",
]
const models = ["openai/chat-model", "anthropic/fake-model", "google/fake-model"]

/** Numbers the random parts of one session. */
export function createPieces(random: Choices) {
  let count = 0

  /** One exchange: a prompt, then the model with its calls, ended in a random way. Stores and returns its messages. */
  async function exchange(place: Place): Promise<Message.Info[]> {
    const made: Message.Info[] = []
    const add = (fields: { type: Message.Type; data: unknown; model?: string }) => {
      const parentId = made.at(-1)?.id ?? place.parentId
      const message = Message.make({ ...place, parentId, ...fields } as Message.Fields<Message.Type>)
      made.push(message as Message.Info)
    }
    addPerson(add)
    for (let turn = random.below(4); turn > 0; turn--) if (!addTurn(add)) return write(made)
    if (random.chance(0.8)) addAnswer(add)
    return write(made)
  }

  type Add = (fields: { type: Message.Type; data: unknown; model?: string }) => void

  function addPerson(add: Add): void {
    add({
      type: "text",
      data: { role: "user", parts: [{ type: "text", text: `wish${++count} keep port ${count}` }] },
    })
    if (random.chance(0.1)) {
      const content = `content ${sized()}`
      add({ type: "file_reference", data: { path: `ref${++count}.ts`, status: "resolved", content } })
    }
    if (random.chance(0.15)) {
      const state = random.pick(["done", "failed", "pending"] as const)
      const source = { kind: "base64", value: dot, mimeType: "image/png" }
      add({
        type: "image",
        data: { source, mode: "auto", state, ...(state === "failed" ? { error: "broken" } : {}) },
      })
    }
    if (random.chance(0.1))
      add({
        type: "system_control",
        data: { control: "mode_change", parameters: { from: "act", to: "plan" } },
      })
  }

  function addAnswer(add: Add): void {
    const finish = random.pick(["stop", "stop", "length", "interrupted", "error", undefined])
    const parts = random.chance(0.1) ? [] : [{ type: "text", text: `answer ${++count} ${sized(0.05)}` }]
    add({
      type: "text",
      data: { role: "assistant", parts: [...thought(), ...parts], ...(finish ? { finish } : {}) },
      model: model(),
    })
  }

  /** Returns whether another turn follows. */
  function addTurn(add: Add): boolean {
    const by = model()
    if (random.chance(0.5))
      add({
        type: "text",
        data: {
          role: "assistant",
          parts: [...thought(by), { type: "text", text: `I look ${++count}.` }],
          finish: "tool-calls",
        },
        model: by,
      })
    const calls = Array.from({ length: 1 + random.below(3) }, () => callOf())
    add({ type: "tool_request", data: { calls }, model: by })
    const answered = random.chance(0.15) ? calls.slice(0, random.below(calls.length)) : calls
    const order = random.chance(0.2) ? answered.toReversed() : answered
    for (const call of order) add({ type: "tool_result", data: resultOf(call) })
    return answered === calls
  }

  function callOf(): Message.Call {
    const n = ++count
    // Some models number their calls anew in each turn.
    const id = random.chance(0.3) ? `call_${random.below(3)}_${n % 7}` : `call_${n}`
    const approval = random.pick([
      "approved",
      "approved",
      "approved",
      "approved",
      "approved",
      "approved",
      "approved",
      "approved",
      "denied",
      "pending",
    ] as const)
    if (approval !== "approved") return { id, name: "bash", arguments: { command: `risky${n}` }, approval }
    const kind = random.pick(["read", "read", "bash", "edit", "write", "odd name!", "broken"])
    if (kind === "broken") return { id, name: "read", arguments: {}, invalid: `{"path": "x${n}`, approval }
    const path = kind === "edit" || kind === "write" ? `src/changed${n % 8}.ts` : `src/file${n}.ts`
    const args =
      kind === "bash"
        ? { command: `run${n}` }
        : { path, ...(kind === "write" ? { content: sized(0.3) } : {}) }
    return { id, name: kind, arguments: args, approval }
  }

  function resultOf({ id, name, arguments: given, approval }: Message.Call) {
    const status =
      approval === "approved"
        ? random.pick(["success", "success", "success", "error", "interrupted"] as const)
        : "error"
    const { path } = given as { path?: string }
    const output = random.chance(0.1)
      ? { rows: [1, 2, sized()] }
      : random.chance(0.05)
        ? ""
        : `result ${++count} ${sized()}`
    return {
      requestId: id,
      toolName: name,
      status,
      output,
      ...(status === "success" ? {} : { error: { message: "it failed", recoverable: true } }),
      duration: 1,
      timestamp: 1,
      metadata: path ? { data: { path } } : {},
    }
  }

  function thought(by = models[1]!) {
    if (!random.chance(0.2)) return []
    const providerMetadata = { [by.split("/")[0]!]: { signature: "c2lnbmVk" } }
    return [
      { type: "reasoning", text: `thinking ${++count}`, ...(random.chance(0.7) ? { providerMetadata } : {}) },
    ]
  }

  /** Mostly short, now and then long. */
  function sized(often = 0.25): string {
    const filler = random.pick(fillers)
    const length = random.chance(often) ? 1_000 + random.below(25_000) : 20
    return filler.repeat(Math.ceil(length / filler.length))
  }

  const model = () => random.pick(models)
  return { exchange }
}

/** The texts that a request for a history must contain. */
export function mustHave(path: readonly Message.Info[]): string[] {
  const answered = new Map<string, Message.Call>()
  return path.flatMap((message): string[] => {
    if (message.type === "text" && message.data.role === "user")
      return message.data.parts.flatMap(({ text }) => /^wish\d+ keep port \d+|^ask \S+/.exec(text)?.[0] ?? [])
    if (message.type === "file_reference") return [message.data.path]
    if (message.type === "tool_request") {
      for (const call of message.data.calls) answered.set(call.id, call)
      return message.data.calls.flatMap(({ approval, arguments: given }) =>
        approval === "approved" ? [] : [(given as { command: string }).command],
      )
    }
    if (message.type !== "tool_result" || message.data.status !== "success") return []
    const { path } = (answered.get(message.data.requestId)?.arguments ?? {}) as { path?: string }
    return /^(edit|write)$/.test(message.data.toolName) && path ? [path] : []
  })
}

async function write(messages: Message.Info[]): Promise<Message.Info[]> {
  await Promise.all(messages.map((message) => MessageStore.write(message)))
  return messages
}
