// Checks values and whole conversations against the JSON Schemas of the protocol that the SDK ships. Variants for values
// of other implementations are left out, so only what the protocol names is valid.
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import { z } from "zod"

export type Version = 1 | 2
type Json = { [name: string]: unknown }
type Message = { id?: unknown; method?: string; params?: unknown; result?: unknown; error?: unknown }
/** The definitions of a method: its parameters, and its result unless it is a notification. */
type Method = { params?: string; result?: string }

/** In a set of keys: others are allowed too. */
const anyKey = "*"
const load = createRequire(import.meta.url)
const schemas = new Map<Version, ReturnType<typeof read>>()

/** `type`: the name of a definition, such as SessionUpdate. */
export function assertIs(type: string, value: unknown, version: Version = 1): void {
  const { $defs, made } = of(version)
  assert.ok($defs[type], `the schema has no ${type}`)
  const schema = made.get(type) ?? z.fromJSONSchema({ $ref: `#/$defs/${type}`, $defs })
  made.set(type, schema)
  // As JSON, like on the wire.
  const sent: unknown = JSON.parse(JSON.stringify(value))
  const { success, error } = schema.safeParse(sent)
  assert.ok(success, `${type}: ${error?.message}\n${JSON.stringify(sent).slice(0, 2_000)}`)
  assert.deepEqual(sent, value, "something is lost on the way")
  assert.deepEqual(unknownKeys(type, sent, version), [], `${type} has keys that the protocol does not name`)
}

/** Checks every message of both sides. `raw`: lines of the client that may be invalid on purpose; the answers to them are
 * checked nevertheless. */
export function checkExchange(exchange: {
  fromAgent: readonly string[]
  fromClient: readonly string[]
  raw?: ReadonlySet<string>
  version?: Version
}): void {
  const { fromAgent, fromClient, raw = new Set(), version = 1 } = exchange
  const asked = { agent: methodsOf(fromClient), client: methodsOf(fromAgent) }
  const refused = refusedIn(fromAgent)
  for (const line of fromAgent) {
    const message = parsed(line)
    assert.ok(message, `not a message: ${line.slice(0, 200)}`)
    check(message, { by: "agent", calls: "client", asked: asked.agent, version })
  }
  for (const line of fromClient) {
    const message = raw.has(line) ? undefined : parsed(line)
    // A request that the agent refused as invalid was sent for that.
    if (message && !(message.method && refused.has(message.id)))
      check(message, { by: "client", calls: "agent", asked: asked.client, version })
  }
}

type Side = "agent" | "client"

function check(
  message: Message,
  { by, calls, asked, version }: { by: Side; calls: Side; asked: Map<unknown, string>; version: Version },
): void {
  const { id, method, params, result, error } = message
  const { methods } = of(version)
  if (method?.startsWith("_")) return
  if (method) {
    const { params: type } = methods.get(`${calls} ${method}`) ?? methods.get(`protocol ${method}`) ?? {}
    assert.ok(type, `${by} called ${method}, which ${calls} does not have`)
    assertIs(type, params, version)
  } else if (error !== undefined) {
    assert.equal(result, undefined, "a response has a result and an error")
    assertIs("Error", error, version)
    assert.match((error as { message: string }).message, /^[^\n]+$/)
  } else {
    const called = asked.get(id)
    assert.ok(called, `${by} answered the request ${id}, which nobody sent`)
    const { result: type } = methods.get(`${by} ${called}`) ?? {}
    if (!called.startsWith("_")) assertIs(type ?? `nothing for ${called}`, result, version)
  }
}

function methodsOf(lines: readonly string[]): Map<unknown, string> {
  const found = new Map<unknown, string>()
  for (const line of lines) {
    const { id, method } = parsed(line) ?? {}
    if (id !== undefined && method) found.set(id, method)
  }
  return found
}

function refusedIn(lines: readonly string[]): Set<unknown> {
  const messages = lines.map((line) => parsed(line)).filter((message) => message?.error)
  const isInvalid = ({ error }: Message) =>
    [-32_600, -32_601, -32_602].includes((error as { code: number }).code)
  return new Set(messages.filter((message) => isInvalid(message!)).map((message) => message!.id))
}

function of(version: Version) {
  const known = schemas.get(version) ?? read(version)
  schemas.set(version, known)
  return known
}

function read(version: Version) {
  const { $defs } = withoutOthers(load(`@agentclientprotocol/sdk/schema/v${version}/schema.json`)) as {
    $defs: Record<string, Json>
  }
  const methods = new Map<string, Method>()
  for (const [type, { "x-side": side, "x-method": name }] of Object.entries($defs)) {
    if (!name) continue
    const method = methods.get(`${side} ${name}`) ?? {}
    methods.set(`${side} ${name}`, { ...method, [type.endsWith("Response") ? "result" : "params"]: type })
  }
  return { $defs, methods, made: new Map<string, z.ZodType>(), keysOf: new Map<string, Set<string>>() }
}

/** All methods that a side has in the schema. */
export function methodNames(side: Side, version: Version = 1): string[] {
  return [...of(version).methods.keys()]
    .filter((name) => name.startsWith(`${side} `))
    .map((name) => name.split(" ")[1]!)
}

function withoutOthers(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((one) => (one as Json | null)?.title !== "other").map(withoutOthers)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([name]) => name !== "not" && name !== "unevaluatedProperties")
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutOthers(one)]))
}

/** Keys at the root of a value that its definition does not have. */
function unknownKeys(type: string, value: unknown, version: Version): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return []
  const { $defs, keysOf } = of(version)
  const keys = keysOf.get(type) ?? new Set(["_meta"])
  if (!keysOf.has(type) && collect({ $ref: `#/$defs/${type}` }, $defs, keys)) keys.add(anyKey)
  keysOf.set(type, keys)
  return keys.has(anyKey) ? [] : Object.keys(value).filter((name) => !keys.has(name))
}

/** Returns whether any key is allowed. */
function collect(schema: Json, $defs: Record<string, Json>, keys: Set<string>): boolean {
  const { $ref, properties, additionalProperties, allOf, anyOf, oneOf } = schema as {
    $ref?: string
    properties?: Json
    additionalProperties?: unknown
  } & Record<"allOf" | "anyOf" | "oneOf", Json[] | undefined>
  for (const name of Object.keys(properties ?? {})) keys.add(name)
  const parts = [
    ...($ref ? [$defs[$ref.replace("#/$defs/", "")]!] : []),
    ...(allOf ?? []),
    ...(anyOf ?? []),
    ...(oneOf ?? []),
  ]
  return parts.map((part) => collect(part, $defs, keys)).includes(true) || additionalProperties === true
}

function parsed(line: string): Message | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
