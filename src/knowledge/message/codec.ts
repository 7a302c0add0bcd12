// Parses and serializes messages. Older versions are migrated when they are read. A message of an unknown type or
// version is kept, and written again byte for byte.
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { createFit } from "./create-fit.ts"
import { Info, isObject, type JsonObject, type Of, type Problem, problemsOf, types } from "./schema.ts"

/** Where a message is stored. It overrides the ids in the message. */
export type Place = { id?: string; sessionId?: string }

export class Invalid extends NamedError {
  constructor(problems: Problem[], id?: unknown) {
    const subject = typeof id === "string" && id ? `Message ${id}` : "The message"
    const reasons = problems.map(({ path, message }) => (path ? `${path}: ${message}` : message))
    super("Message.Invalid", `${subject} is not valid: ${reasons.join("; ")}`, { problems })
  }
}

/** The version that is written. */
const current = 1
/** The migration at n makes version n + 1 of version n. There is none so far: 1 is the first version that was written. */
export const migrations = new Map<unknown, (value: JsonObject) => JsonObject>()

const warnOnce = createWarnOnce()
/** For so few messages, the fast check costs more than it saves. */
const few = 100
let adopted = 0
/** Created when a long history is read, because it would slow down a start. */
let fits: ReturnType<typeof createFit> | undefined

/** A message from JSON text, or from its value. Throws `Invalid` only for what cannot be a message, and for broken
 * data of a known type. */
export function parse(json: unknown, place: Place = {}): Info {
  const value = typeof json === "string" ? read(json) : json
  if (!isObject(value)) throw new Invalid([{ path: "", message: "an object is expected" }], place.id)
  const text = () => (typeof json === "string" ? json : write(value))
  const migrated = migrate(value, value.schema)
  if (!migrated) return unknown(value, text(), place)
  if (typeof value.type !== "string")
    throw new Invalid([{ path: "type", message: "a string is expected" }], value.id)
  if (!types.has(migrated.type as string)) return unknown(value, text(), place)
  const checked = Info.safeParse(placed(migrated, place))
  if (checked.success) return checked.data
  if (migrated.type === "unknown") return unknown(value, text(), place)
  throw new Invalid(problemsOf(checked.error), place.id ?? value.id)
}

/** Like `parse`, for a value from JSON that nobody else uses: in a long history the value itself is usually returned,
 * without a copy. `count`: the messages that are read with this one, if known. */
export function adopt(value: unknown, { id, sessionId }: Required<Place>, count = 1): Info {
  if (count < few && adopted++ < few) return parse(value, { id, sessionId })
  fits ??= createFit(Info)
  if (fits(value)) {
    const message = value as Info
    if (message.id === id && message.sessionId === sessionId) return message
  }
  return parse(value, { id, sessionId })
}

/** The JSON text of a message; for an unknown type exactly the original text. */
export function serialize(message: Info): string {
  return message.type === "unknown" ? message.data.original : JSON.stringify(message)
}

/** A copy of the message, with the defaults of its type filled in. */
export function checked(message: Info): Info {
  const result = Info.safeParse(message)
  if (!result.success) throw new Invalid(problemsOf(result.error), message?.id)
  return result.data
}

/** The value in the current version; undefined if no migration leads there. */
function migrate(value: JsonObject, version: unknown): JsonObject | undefined {
  if (version === current) return value
  const step = migrations.get(version)
  return step && migrate(step(value), Number(version) + 1)
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Invalid([{ path: "", message: errorText(error) }])
  }
}

function write(value: JsonObject): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new Invalid([{ path: "", message: errorText(error) }], value.id)
  }
}

function placed(value: JsonObject, { id, sessionId }: Place): JsonObject {
  if ((id ?? value.id) === value.id && (sessionId ?? value.sessionId) === value.sessionId) return value
  return { ...value, ...(id ? { id } : {}), ...(sessionId ? { sessionId } : {}) }
}

/** The envelope has the fields that could be read. */
function unknown(value: JsonObject, original: string, place: Place): Of<"unknown"> {
  warnOnce(String(value.type), value.schema)
  const string = (name: string) => (typeof value[name] === "string" ? value[name] : undefined)
  return {
    id: place.id ?? (string("id") || createId("msg")),
    sessionId: place.sessionId ?? string("sessionId") ?? "",
    parentId: string("parentId") ?? null,
    branch: string("branch") ?? "main",
    time: typeof value.time === "number" ? value.time : 0,
    schema: current,
    type: "unknown",
    data: { original },
  }
}

/** Logs one line for a history with a thousand such messages. */
function createWarnOnce() {
  const warned = new Set<string>()
  const most = 100
  return (type: string, schema: unknown) => {
    const key = `${type.slice(0, 80)} ${String(schema).slice(0, 20)}`
    if (warned.has(key) || warned.size >= most) return
    warned.add(key)
    Log.warn("messages of an unknown type or version are kept as they are", {
      type: type.slice(0, 80),
      schema,
    })
  }
}
