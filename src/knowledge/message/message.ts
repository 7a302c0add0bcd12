// The entry file of this folder. A message: text, call, result, file, image or control of a session; its stored form,
// its validation, and its form for models.
import type { LanguageModelV4Message } from "@ai-sdk/provider"
import { z } from "zod"
import { createId, followId } from "#util/id.ts"
import {
  type Call,
  Info,
  isObject,
  type Json,
  type JsonObject,
  type Of,
  type Type,
  type Usage,
} from "./schema.ts"

export { fileName } from "#client/attachment-words.ts"
export { Invalid, type Place, parse, serialize } from "./codec.ts"
export { type Converter, createConverter } from "./converter.ts"
export type { Json, JsonObject } from "./schema.ts"
export {
  Call,
  type Check,
  Info,
  MessageRole,
  type Of,
  Part,
  type Problem,
  type Type,
  Usage,
} from "./schema.ts"
export { type Facts, toModel } from "./to-model.ts"
export { validate } from "./validate.ts"

import { isTooDeep } from "#util/parse/is-too-deep.ts"

/** One message of a prompt, as `toModel` gives it. */
export type ModelMessage = LanguageModelV4Message

/** The fields that a new message needs. */
export type Fields<T extends Type> = {
  sessionId: string
  parentId: string | null
  branch?: string
  agent?: string | undefined
  model?: string | undefined
  usage?: Usage | undefined
  promptId?: string | undefined
  type: T
  data: Of<T>["data"]
}

/** A new message. It is in no store yet. Its id sorts behind that of the message that it follows, whatever the clock
 * says. */
export function make<T extends Type>(fields: Fields<T>): Of<T> {
  const { sessionId, parentId, branch = "main", agent, model, usage, promptId, type, data } = fields
  if (parentId !== null) followId(parentId)
  return {
    id: createId("msg"),
    sessionId,
    parentId,
    branch,
    time: Date.now(),
    schema: 1,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    ...(promptId === undefined ? {} : { promptId }),
    type,
    data,
  } as Of<T>
}

/** The data of a tool request, from the calls of a model (OpenAI's `tool_calls`). A result names its call by id, so a
 * missing id is made, and the second of two equal ones gets a suffix (`call_1_2`). Arguments that are not JSON, or are
 * nested too deep to be stored, stay as text in `invalid`. An empty name stays empty: the call is answered with the names
 * that exist. */
export function fromToolCalls(calls: readonly unknown[]): Of<"tool_request">["data"] {
  const used = new Set<string>()
  return {
    calls: calls.map((given) => {
      const call = isObject(given) ? given : {}
      const inner = isObject(call.function) ? call.function : call
      const read = isObject(given)
        ? readArguments(inner)
        : { arguments: {}, invalid: JSON.stringify(given) ?? "" }
      const found: Call = {
        id: unique(stringOf(call.id), used),
        name: stringOf(inner.name),
        ...read,
        approval: "pending",
      }
      if (isObject(call.providerMetadata))
        found.providerMetadata = call.providerMetadata as Readonly<Record<string, JsonObject>>
      return found
    }),
  }
}

/** The words of a text message, without its reasoning; empty for other types. */
export function textOf(message: Info): string {
  if (message.type !== "text") return ""
  return message.data.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
}

/** The structured data of a result: its output, or what is stored beside its text. */
export function dataOf({
  output,
  metadata,
}: Pick<Of<"tool_result">["data"], "output" | "metadata">): unknown {
  return metadata?.data ?? (typeof output === "object" && output !== null ? output : undefined)
}

/** Why an answer is not complete, for a person or another model; undefined for a complete one. */
export function cutReason(message: Info): string | undefined {
  const finish = message.type === "text" ? message.data.finish : undefined
  if (finish === "length") return "cut off at the limit of output tokens"
  return finish === "content-filter" ? "held back by the provider's content filter" : undefined
}

/** Whether an answer says that the request was not done. */
export function isCannot(message: Info): boolean {
  return message.type === "text" && message.data.finish === "cannot"
}

/** The JSON schema of what `parse` takes in the present version. Fields beyond it are ignored. */
export function jsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(Info, { io: "input", unrepresentable: "any" })
}

/** For a call without arguments, models leave them out or send an empty text. */
function readArguments(call: JsonObject): { arguments: Json; invalid?: string } {
  const given = call.arguments ?? {}
  if (typeof given !== "string") return { arguments: given }
  if (given.trim() === "") return { arguments: {} }
  if (isTooDeep(given)) return { arguments: {}, invalid: given }
  try {
    return { arguments: JSON.parse(given) }
  } catch {
    return { arguments: {}, invalid: given }
  }
}

function unique(id: string, used: Set<string>): string {
  const wanted = id || createId("call")
  let free = wanted
  for (let n = 2; used.has(free); n++) free = `${wanted}_${n}`
  used.add(free)
  return free
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}
