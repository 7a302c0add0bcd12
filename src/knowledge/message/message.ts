// The entry file of this folder. A message: text, call, result, file, image or control of a session; its stored form,
// its validation, and its form for models.
import type { LanguageModelV4Message } from "@ai-sdk/provider"
import { z } from "zod"
import { createId, followId } from "#util/id.ts"
import { Info, type Of, type Type, type Usage } from "./schema.ts"

export { Invalid, type Place, parse, serialize } from "./codec.ts"
export { type Converter, createConverter } from "./converter.ts"
export { fromToolCalls } from "./from-tool-calls.ts"
export type { Json, JsonObject } from "./json.ts"
export { fileName } from "./render.ts"
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

/** The words of a text message, without its reasoning; empty for other types. */
export function textOf(message: Info): string {
  if (message.type !== "text") return ""
  return message.data.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
}

/** The structure that a tool gave, whether it is the output or is stored beside the words. */
export function dataOf({
  output,
  metadata,
}: Pick<Of<"tool_result">["data"], "output" | "metadata">): unknown {
  return metadata?.data ?? (typeof output === "object" && output !== null ? output : undefined)
}

/** Why an answer with these words is not complete, for a person or another model; undefined for a complete one. */
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
