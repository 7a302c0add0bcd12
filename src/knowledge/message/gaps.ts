// An unreadable message leaves a gap in its session. A note for the model replaces it under its id, so that later
// messages stay connected to earlier ones. The note is created at each read and never stored: once the record is
// restored, the message is back. The position of the message is read from its quarantined file, or from a second
// record, which reverts and branch switches have.
import * as Storage from "#kernel/storage/storage.ts"
import { isOneChain, turnsAway } from "./conversation-order.ts"
import { type Info, isObject, type Of } from "./schema.ts"

/** An unreadable message: why it cannot be read, and its position if that is known. */
export type Lost = {
  id: string
  reason: string
  parentId?: string | null | undefined
  branch?: string | undefined
}

type Position = { parentId: string | null; branch: string }

const kind = "gap"

/** The gaps of a history, each with the reason why the message cannot be read. */
export function gapsIn(messages: readonly Info[]): { id: string; reason: string }[] {
  return messages.flatMap((message) =>
    message.type === "text" && message.data.origin?.kind === kind
      ? [{ id: message.id, reason: message.data.origin.name }]
      : [],
  )
}

/** The parents of messages that are not among them. */
export function missingParents(messages: readonly Info[]): string[] {
  if (isOneChain(messages)) return []
  const ids = new Set<string | null>(messages.map(({ id }) => id)).add(null)
  return [...new Set(messages.flatMap(({ parentId }) => (ids.has(parentId) ? [] : [parentId!])))]
}

/** Adds a note for each lost message. `messages` and the result are in the order of the conversation. */
export function bridgeGaps(messages: readonly Info[], lost: readonly Lost[]): Info[] {
  const all: Info[] = [...messages]
  const isSorted = messages.every(({ id }, i) => i === 0 || messages[i - 1]!.id < id)
  for (const one of [...lost].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const children = messages.filter(({ parentId }) => parentId === one.id)
    const place = placeOf(all, one.id, isSorted ? undefined : children[0])
    const branch = one.branch ?? branchOf(children) ?? all[place - 1]?.branch ?? "main"
    const parentId = one.parentId === undefined ? parentIn(all.slice(0, place), branch) : one.parentId
    all.splice(place, 0, note({ ...one, parentId, branch }, all[place - 1] ?? children[0]))
  }
  return all
}

/** The index for a note. Ids sort in the order of the conversation, unless an older version wrote them while the clock
 * went back; then the note is before its first child. */
function placeOf(all: readonly Info[], id: string, child: Info | undefined): number {
  return child ? all.indexOf(child) : all.findLastIndex((message) => message.id < id) + 1
}

/** A message is on the branch of its parent, unless it switches the branch. */
function branchOf(children: readonly Info[]): string | undefined {
  return children.find((message) => !turnsAway(message))?.branch
}

/** A session does one thing at a time, so a message follows the last one of its branch. Reverts and new branches do not;
 * their place is stored twice. Two branches are never joined by guessing. */
function parentIn(before: readonly Info[], branch: string): string | null {
  return before.findLast((message) => message.branch === branch)?.id ?? null
}

function note(
  lost: Lost & { parentId: string | null; branch: string },
  beside: Info | undefined,
): Of<"text"> {
  const { id, reason, parentId, branch } = lost
  const text =
    "A message is missing here: its record on disk cannot be read. What it said, or which calls and results it held, is " +
    "not known. Do not guess it; look again or ask if it matters."
  return {
    id,
    sessionId: beside?.sessionId ?? "",
    parentId,
    branch,
    time: beside?.time ?? 0,
    schema: 1,
    type: "text",
    data: { role: "system", parts: [{ type: "text", text }], origin: { kind, name: reason } },
  }
}

/** Stores the position of a message a second time, so that no gap is bridged to a reverted message. */
export async function storePosition({ id, sessionId, parentId, branch }: Info): Promise<void> {
  await Storage.write(positionKey(sessionId, id), { parentId, branch } satisfies Position)
}

export async function removePositions(sessionId: string): Promise<void> {
  const ids = await Storage.list(positionKey(sessionId))
  await Promise.all(ids.map((id) => Storage.remove(positionKey(sessionId, id))))
  await Storage.discard(positionKey(sessionId))
}

/** The messages that are quarantined, invalid, or the parent of another, and not among those that could be read. */
export async function lostMessages(
  sessionId: string,
  messages: readonly Info[],
  invalid: readonly Lost[],
): Promise<Lost[]> {
  const lost = new Map<string, Lost>()
  for (const id of missingParents(messages)) lost.set(id, { id, reason: "its record is gone" })
  for (const one of await Storage.quarantined(["message", sessionId])) {
    const id = one.key[2] ?? ""
    if (!messages.some((message) => message.id === id)) lost.set(id, await describe(id, one))
  }
  for (const one of invalid) lost.set(one.id, one)
  return Promise.all(lost.values().map((one) => withPosition(sessionId, one)))
}

async function describe(id: string, one: Storage.Quarantined): Promise<Lost> {
  const read = await Storage.readQuarantined(one)
  return "reason" in read
    ? { id, reason: read.reason, ...fieldsIn(await Storage.headOf(one)) }
    : { id, reason: "its file was damaged", ...fieldsOf(read.value) }
}

/** The position that an invalid message claims. */
export function fieldsOf(value: unknown): Partial<Position> {
  if (!isObject(value)) return {}
  const { parentId, branch } = value
  return {
    ...(typeof parentId === "string" || parentId === null ? { parentId } : {}),
    ...(typeof branch === "string" ? { branch } : {}),
  }
}

/** Adds the position from its second record, if it has one. */
async function withPosition(sessionId: string, lost: Lost): Promise<Lost> {
  if (lost.parentId !== undefined) return lost
  try {
    return { ...lost, ...fieldsOf(await Storage.read(positionKey(sessionId, lost.id))) }
  } catch (error) {
    const { NotFound, Corrupt, InvalidKey } = Storage
    if (error instanceof NotFound || error instanceof Corrupt || error instanceof InvalidKey) return lost
    throw error
  }
}

/** Reads the fields at the beginning of a truncated record. After `data` comes the content of the message, which may
 * contain anything. */
function fieldsIn(head: string): Partial<Position> {
  const envelope = head.split('"data":', 1)[0]!
  const [, parent] = /"parentId":(null|"[\w-]+")/.exec(envelope) ?? []
  const [, branch] = /"branch":"([\w./-]+)"/.exec(envelope) ?? []
  return {
    ...(parent ? { parentId: JSON.parse(parent) as string | null } : {}),
    ...(branch ? { branch } : {}),
  }
}

function positionKey(sessionId: string, ...id: string[]): Storage.Key {
  return ["turn", sessionId, ...id]
}
