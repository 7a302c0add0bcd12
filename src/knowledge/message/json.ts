// JSON as a type, as a schema that does not walk or copy it (a tool's output may be large), and as a check that does.
import { z } from "zod"

export type Json = null | string | number | boolean | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

export const Json = z.custom<Json>((value) => value !== undefined, "a JSON value is expected")
export const JsonObject = z
  .custom<JsonObject>(isObject, "an object is expected")
  .meta({ type: "object", additionalProperties: true })

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Whether a value would come back from JSON as it is: no functions, no NaN, no cycles, no instances of classes. */
export function isJson(value: unknown): value is Json {
  try {
    JSON.stringify(value)
  } catch {
    return false
  }
  const waiting: unknown[] = [value]
  const seen = new Set<unknown>()
  for (const item of waiting) {
    if (item === null || typeof item === "string" || typeof item === "boolean") continue
    if (typeof item === "number" && Number.isFinite(item)) continue
    if (typeof item !== "object") return false
    if (seen.has(item)) continue
    seen.add(item)
    if (Array.isArray(item)) for (const child of item) waiting.push(child)
    else if (isPlain(item))
      for (const child of Object.values(item)) {
        if (child !== undefined) waiting.push(child)
      }
    else return false
  }
  return true
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
