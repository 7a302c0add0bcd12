// Older versions of the stored form, brought up to date one step at a time.
import type { JsonObject } from "./json.ts"
import { fromVersion0 } from "./version-0.ts"

/** The step at index n makes version n + 1 out of version n. */
const steps: readonly ((value: JsonObject) => JsonObject)[] = [fromVersion0]

/** The version that is written. */
export const current = 1

export function migrate(value: JsonObject, version: number): JsonObject {
  for (const step of steps.slice(version)) value = step(value)
  return value
}
