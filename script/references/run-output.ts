// docs/run-output.schema.json: the lines of `vitamin run --format json` as a JSON Schema, written from the schemas of the
// events. Programs rely on it, so a change that takes something away needs a new version.
import { linesVersion, ownLines } from "#edge/cli/run/run-lines.ts"
import { Info as Session } from "#engine/record/session-info.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Info as Message } from "#knowledge/message/schema.ts"
import { type Schema as Fields, schemaOf } from "./fields.ts"

export type Schema = Fields & { $ref?: string; $defs?: Record<string, Schema>; [key: string]: unknown }
type Line = { type: string; when: string; live: boolean; payload: Schema }

const id = "https://github.com/vitamin-agent/vitamin/run-output"

/** Every line; call after the modules that define events are loaded. `isStrict`: no field beyond the named ones, for
 * tests. The document itself allows more: programs must ignore what they do not know. */
export function runOutputSchema({ isStrict = false } = {}): Schema {
  const lines = [...ownTypes(), ...eventTypes()].sort((a, b) => (a.type < b.type ? -1 : 1))
  const shared = { message: schemaOf(Message, "output"), session: schemaOf(Session, "output") } as Record<
    string,
    Schema
  >
  const whole: Schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `${id}/v${linesVersion}.json`,
    title: "A line of vitamin run --format json",
    version: linesVersion,
    type: "object",
    required: ["type", "time", "directory", "payload"],
    properties: {
      id: {
        type: "integer",
        description: "Number of the event, which grows. Live events and own lines have none.",
      },
      type: { type: "string", description: "What happened. Ignore types that you do not know." },
      time: { type: "number", description: "Milliseconds since 1970." },
      directory: { type: "string", description: "Folder of the run." },
      payload: { type: "object" },
    } as Record<string, Schema>,
    anyOf: [
      ...lines.map(({ type }) => ({
        properties: { type: { const: type }, payload: { $ref: `#/$defs/${type}` } },
      })),
      // A type that a later version adds.
      { properties: { type: { not: { enum: lines.map(({ type }) => type) } } } },
    ] as Schema[],
    $defs: Object.fromEntries([
      ...lines.map(({ type, when, payload }) => [type, { description: when, ...payload }]),
      ...Object.entries(shared),
    ]),
  }
  const text = JSON.stringify(whole, (key, value) => (key === "$schema" ? undefined : value))
  return withReferences({ $schema: whole.$schema, ...JSON.parse(text) } as Schema, isStrict)
}

function ownTypes(): Line[] {
  return Object.entries(ownLines).map(([type, { schema, when }]) => ({
    type,
    when,
    live: true,
    payload: schemaOf(schema, "output") as Schema,
  }))
}

function eventTypes(): Line[] {
  return Bus.list().map(({ type, when = "", live, schema }) => ({
    type,
    when,
    live,
    payload: schemaOf(schema, "output") as Schema,
  }))
}

/** Messages and sessions come in many events: each is written once. */
function withReferences(schema: Schema, isStrict: boolean): Schema {
  const { message, session } = schema.$defs!
  const named = new Map([
    [JSON.stringify(message), "message"],
    [JSON.stringify(session), "session"],
  ])
  const visit = (node: unknown, isTop = false): unknown => {
    if (Array.isArray(node)) return node.map((item) => visit(item))
    if (typeof node !== "object" || node === null) return node
    const known = isTop ? undefined : named.get(JSON.stringify(node))
    if (known) return { $ref: `#/$defs/${known}` }
    const entries = Object.entries(node)
      .filter(([key, value]) => isStrict || key !== "additionalProperties" || value !== false)
      .map(([key, value]) => [key, visit(value)])
    return Object.fromEntries(entries)
  }
  const $defs = Object.fromEntries(
    Object.entries(schema.$defs!).map(([name, def]) => [name, visit(def, name in { message, session })]),
  )
  return { ...(visit({ ...schema, $defs: undefined }) as Schema), $defs: $defs as Record<string, Schema> }
}

/** Lists what a program that reads lines of `before` would miss in lines of `after`. Empty if only something was added. */
export function lostIn(before: Schema, after: Schema): string[] {
  return lost(before, after, { before, after, path: "", seen: new Set() })
}

type Place = { before: Schema; after: Schema; path: string; seen: Set<string> }

function lost(oldNode: Schema | undefined, newNode: Schema | undefined, place: Place): string[] {
  const before = follow(oldNode, place.before)
  const after = follow(newNode, place.after)
  const { path, seen } = place
  if (!before || seen.has(`${oldNode?.$ref} ${path}`) || path.length > 400) return []
  if (oldNode?.$ref) seen.add(`${oldNode.$ref} ${path}`)
  if (!after) return [`${path} is gone`]
  const below = (key: string): Place => ({ ...place, path: path ? `${path}.${key}` : key })
  return [
    ...namesLost(before.$defs, after.$defs, below),
    ...namesLost(before.properties, after.properties, below),
    ...(before.required ?? [])
      .filter((name) => !after.required?.includes(name))
      .map((name) => `${below(name).path} may be missing now`),
    ...lost(before.items, after.items, below("[]")),
    ...valuesLost(before, after, path),
    ...formsLost(before, after, place),
  ]
}

function namesLost(
  before: Record<string, Schema> = {},
  after: Record<string, Schema> = {},
  below: (key: string) => Place,
): string[] {
  return Object.entries(before).flatMap(([name, schema]) => lost(schema, after[name], below(name)))
}

function valuesLost(before: Schema, after: Schema, path: string): string[] {
  const type = (schema: Schema) => JSON.stringify(schema.type ?? null)
  if (before.type !== undefined && type(before) !== type(after))
    return [`${path} was ${type(before)} and is ${type(after)}`]
  const values = (schema: Schema) => schema.enum ?? ("const" in schema ? [schema.const] : undefined)
  const kept = values(after)
  return (values(before) ?? [])
    .filter((value) => kept && !kept.includes(value))
    .map((value) => `${path} is never ${JSON.stringify(value)} now`)
}

/** Each old form must have a new one that loses nothing. */
function formsLost(before: Schema, after: Schema, place: Place): string[] {
  const forms = (schema: Schema) => (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  return (forms(before) ?? []).flatMap((form, at) => {
    const fits = (forms(after) ?? [after]).some(
      (one) => lost(form, one, { ...place, seen: new Set(place.seen) }).length === 0,
    )
    return fits ? [] : [`${place.path} has lost a form (${String(at + 1)})`]
  })
}

function follow(node: Schema | undefined, root: Schema): Schema | undefined {
  const name = node?.$ref?.replace("#/$defs/", "")
  return name === undefined ? node : root.$defs?.[name]
}

/** The text of the document. Throws if it would take something away without a new version. */
export function renderRunOutput(committed: string): string {
  const after = runOutputSchema()
  const before = committed ? (JSON.parse(committed) as Schema) : undefined
  const gone = before && before.version === after.version ? lostIn(before, after) : []
  if (gone.length)
    throw new Error(
      `The lines of "vitamin run --format json" lose something that programs read: ${gone.join("; ")}. Keep it, or raise linesVersion in src/edge/cli/run/run-lines.ts and name the change in CHANGELOG.md.`,
    )
  return `${JSON.stringify(after, null, 1)}\n`
}
