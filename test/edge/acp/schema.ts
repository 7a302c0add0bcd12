// Checks values against the protocol's own JSON Schema.
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import { z } from "zod"

const { $defs } = createRequire(import.meta.url)("@agentclientprotocol/sdk/schema/v1/schema.json")
const made = new Map<string, z.ZodType>()

/** `type`: the name of a definition, such as SessionUpdate. */
export function assertIs(type: string, value: unknown): void {
  const schema = made.get(type) ?? z.fromJSONSchema({ $ref: `#/$defs/${type}`, $defs })
  made.set(type, schema)
  // As JSON, like on the wire.
  const sent: unknown = JSON.parse(JSON.stringify(value))
  const { success, error } = schema.safeParse(sent)
  assert.ok(success, `${type}: ${error?.message}\n${JSON.stringify(sent).slice(0, 2_000)}`)
  assert.deepEqual(sent, value, "something is lost on the way")
}
