// Converts tool calls of a model (OpenAI's `tool_calls`) into the data of one tool request. Nothing is lost; an
// invalid call is reported to the model as its result, and by `validate`.
import { createId } from "#util/id.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { isObject, type Json, type JsonObject } from "./json.ts"
import type { Call, Of } from "./schema.ts"

/**
 * Ids are kept; a missing one is made, and the second of two equal ones gets a suffix (`call_1_2`), since a result
 * names its call by id. Arguments that are not JSON, or too deep to be stored, stay as text in `invalid`. An empty name stays empty: the call is
 * answered with the names that exist.
 */
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
        id: unique(textOf(call.id), used),
        name: textOf(inner.name),
        ...read,
        approval: "pending",
      }
      if (isObject(call.providerMetadata))
        found.providerMetadata = call.providerMetadata as Readonly<Record<string, JsonObject>>
      return found
    }),
  }
}

/** Models leave the arguments of a call without any out, or give an empty text. */
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

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}
