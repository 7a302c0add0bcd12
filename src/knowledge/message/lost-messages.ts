// What can be found out about the messages of a session that cannot be read: from their quarantined files, and from the
// second record of those that do not follow the message before them.
import * as Storage from "#kernel/storage/storage.ts"
import { type Lost, missingParents } from "./bridge-gaps.ts"
import { isObject } from "./json.ts"
import type { Info } from "./schema.ts"

type Turn = { parentId: string | null; branch: string }

/** Notes the place of such a message, so that no gap is bridged to a reverted message. */
export async function keepTurn({ id, sessionId, parentId, branch }: Info): Promise<void> {
  await Storage.write(turnKey(sessionId, id), { parentId, branch } satisfies Turn)
}

export async function removeTurns(sessionId: string): Promise<void> {
  const ids = await Storage.list(turnKey(sessionId))
  await Promise.all(ids.map((id) => Storage.remove(turnKey(sessionId, id))))
  await Storage.discard(turnKey(sessionId))
}

/** The messages of a session that are on disk or that others follow, and that are not among those that could be read. */
export async function lostMessages(
  sessionId: string,
  messages: readonly Info[],
  invalid: readonly Lost[],
): Promise<Lost[]> {
  const lost = new Map<string, Lost>()
  for (const id of missingParents(messages)) lost.set(id, { id, reason: "its record is gone" })
  for (const { key, file } of Storage.quarantined(["message", sessionId])) {
    const id = key[2] ?? ""
    if (!messages.some((message) => message.id === id)) lost.set(id, describe(id, file))
  }
  for (const one of invalid) lost.set(one.id, one)
  return Promise.all(lost.values().map((one) => withTurn(sessionId, one)))
}

function describe(id: string, file: string): Lost {
  const read = Storage.readQuarantined(file)
  return "reason" in read
    ? { id, reason: read.reason, ...fieldsIn(Storage.headOf(file)) }
    : { id, reason: "its file was damaged", ...fieldsOf(read.value) }
}

/** The place that a value claims which is no valid message. */
export function fieldsOf(value: unknown): Partial<Turn> {
  if (!isObject(value)) return {}
  const { parentId, branch } = value
  return {
    ...(typeof parentId === "string" || parentId === null ? { parentId } : {}),
    ...(typeof branch === "string" ? { branch } : {}),
  }
}

/** Where the message stands, from its second record if it has one. */
async function withTurn(sessionId: string, lost: Lost): Promise<Lost> {
  if (lost.parentId !== undefined) return lost
  try {
    return { ...lost, ...fieldsOf(await Storage.read(turnKey(sessionId, lost.id))) }
  } catch (error) {
    const { NotFound, Corrupt, InvalidKey } = Storage
    if (error instanceof NotFound || error instanceof Corrupt || error instanceof InvalidKey) return lost
    throw error
  }
}

/** A record that was cut still begins with them. What stands behind them is of the message's content. */
function fieldsIn(head: string): Partial<Turn> {
  const envelope = head.split('"data":', 1)[0]!
  const [, parent] = /"parentId":(null|"[\w-]+")/.exec(envelope) ?? []
  const [, branch] = /"branch":"([\w./-]+)"/.exec(envelope) ?? []
  return {
    ...(parent ? { parentId: JSON.parse(parent) as string | null } : {}),
    ...(branch ? { branch } : {}),
  }
}

function turnKey(sessionId: string, ...id: string[]): Storage.Key {
  return ["turn", sessionId, ...id]
}
