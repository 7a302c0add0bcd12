// Messages for tests: short ones by hand, and random ones of every type from a seed.
import * as Message from "#knowledge/message/message.ts"

type Data<T extends Message.Type> = Message.Fields<T>["data"]

export const envelope = {
  id: "msg_1",
  sessionId: "sess_1",
  parentId: null,
  branch: "main",
  time: 1_767_225_600_000,
  schema: 1,
}

export function message<T extends Message.Type>(
  type: T,
  data: Data<T>,
  more: { model?: string } = {},
): Message.Of<T> {
  return Message.make({ sessionId: "sess_1", parentId: null, type, data, ...more })
}

export function user(...texts: string[]): Message.Info {
  return message("text", { role: "user", parts: texts.map((text) => ({ type: "text", text })) })
}

export function assistant(
  parts: string | Message.Part[],
  finish: Data<"text">["finish"] | null = "stop",
  model?: string,
): Message.Info {
  const list = typeof parts === "string" ? [{ type: "text" as const, text: parts }] : parts
  return message(
    "text",
    { role: "assistant", parts: list, ...(finish ? { finish } : {}) },
    model ? { model } : {},
  )
}

export function calls(...ids: string[]): Message.Info {
  return message("tool_request", {
    calls: ids.map((id) => ({ id, name: "read", arguments: { path: id }, approval: "approved" })),
  })
}

export function result(requestId: string, output: Message.Json = `content of ${requestId}`): Message.Info {
  const data = { requestId, toolName: "read", status: "success" as const, output, duration: 1, timestamp: 2 }
  return message("tool_result", data)
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A message of a type with every optional field there or not, and values that are hard on JSON. */
export function randomMessage(type: Message.Type, random: () => number): Message.Info {
  const text = () => pick(["", "a", "ü€😀", '"\\\n\t\0', "\ud800", "</file>", "__proto__", "x".repeat(300)])
  const whole = () => Math.floor(random() * 2 ** pick([3, 31, 52]))
  const pick = <const T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const maybe = <N extends string, V>(name: N, value: () => V) =>
    (random() < 0.5 ? { [name]: value() } : {}) as { [K in N]?: V }
  const many = <V>(value: () => V) => Array.from({ length: whole() % 4 }, value)
  const object = (depth = 3): Message.JsonObject =>
    JSON.parse(`{${many(() => `${JSON.stringify(text())}:${JSON.stringify(json(depth - 1))}`).join()}}`)
  const json = (depth = 3): Message.Json =>
    depth <= 0
      ? pick([null, true, false, -1.5, 1e300, whole(), text()])
      : pick([() => object(depth), () => many(() => json(depth - 1)), () => json(0)])()
  const metadata = () => ({ anthropic: { signature: text(), more: json() } })
  const part = (): Message.Part => ({
    type: pick(["text", "reasoning"]),
    text: text(),
    ...maybe("providerMetadata", metadata),
  })
  const data: { [T in Message.Type]: () => Data<T> } = {
    text: () => ({
      role: pick(["user", "assistant", "system"]),
      parts: many(part),
      ...maybe("finish", () => pick(["stop", "length", "tool-calls", "interrupted", "other"])),
      ...maybe("error", () => ({ name: text(), message: text() })),
    }),
    image: () => ({
      source: { kind: pick(["url", "base64", "file"]), value: text(), ...maybe("mimeType", text) },
      mode: pick(["vision", "ocr", "auto"]),
      ...maybe("usedMode", () => pick(["vision", "ocr"])),
      state: pick(["pending", "done", "failed"]),
      ...maybe("recognizedText", text),
      ...maybe("visionAnalysis", text),
      ...maybe("metadata", () => object()),
      ...maybe("error", text),
    }),
    file_reference: () => ({
      path: text(),
      ...maybe("startLine", whole),
      ...maybe("endLine", whole),
      status: pick(["pending", "resolved", "failed"]),
      ...maybe("content", text),
      ...maybe("error", text),
    }),
    tool_request: () => ({
      calls: many(() => ({
        id: text(),
        name: text(),
        arguments: json(),
        ...maybe("invalid", text),
        approval: pick(["pending", "approved", "denied"]),
        ...maybe("providerMetadata", metadata),
        ...maybe("snapshot", json),
      })),
    }),
    tool_result: () => ({
      requestId: text(),
      toolName: text(),
      status: pick(["success", "error", "interrupted"]),
      output: json(),
      ...maybe("error", () => ({ message: text(), ...maybe("stack", text), recoverable: random() < 0.5 })),
      duration: whole(),
      timestamp: whole(),
      ...maybe("metadata", () => object()),
    }),
    system_control: () => ({ control: text(), parameters: object() }),
    mcp_resource: () => ({
      serverName: text(),
      resourceUri: text(),
      content: text(),
      ...maybe("mimeType", text),
      retrievedAt: whole(),
    }),
    unknown: () => ({ original: JSON.stringify({ type: "poll", id: "msg_u", sessionId: "s", x: json() }) }),
  }
  return Message.make({
    sessionId: text(),
    parentId: pick([null, "msg_0"]),
    branch: pick(["main", "other"]),
    ...maybe("agent", text),
    ...maybe("model", text),
    ...maybe("usage", () => ({ input: whole(), output: whole(), ...maybe("cost", random) })),
    type,
    data: data[type](),
  } as Message.Fields<Message.Type>)
}

/** Change one thing somewhere: take a field away, add one, move one, or put another value in its place. */
export function mutate(value: Record<string, unknown>, random: () => number): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const place = pick(placesIn(value))
  const name = pick(Object.keys(place).concat("added"))
  const others = [null, true, 0, -1.5, "", "text", "msg_1", [], {}, [{}], { type: "text" }, { a: 1 }]
  const kind = random()
  const { [name]: moved } = place
  if (kind < 0.5) delete place[name]
  if (kind >= 0.3 && kind < 0.5) place[name] = moved ?? null
  if (kind >= 0.5)
    place[name] = random() < 0.3 ? structuredClone(pick(Object.values(value))) : structuredClone(pick(others))
}

function placesIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return []
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(placesIn)]
}
