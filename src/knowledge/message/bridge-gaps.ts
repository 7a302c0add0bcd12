// An unreadable message leaves a gap in its session. A note for the model takes its place, with its id, so that later
// messages stay connected to earlier ones. The note is made at each read and never stored: once the record is
// restored, the message is back.
import { turnsAway } from "./conversation-order.ts"
import type { Info, Of } from "./schema.ts"

/** What is known of an unreadable message: the reason, and its place if that could be found. */
export type Lost = {
  id: string
  reason: string
  parentId?: string | null | undefined
  branch?: string | undefined
}

const kind = "gap"

/** The gaps of a history, each with the reason why the message cannot be read. */
export function gapsIn(messages: readonly Info[]): { id: string; reason: string }[] {
  return messages.flatMap((message) =>
    message.type === "text" && message.data.origin?.kind === kind
      ? [{ id: message.id, reason: message.data.origin.name }]
      : [],
  )
}

/** The ids that messages follow and that are none of theirs. */
export function missingParents(messages: readonly Info[]): string[] {
  const ids = new Set<string | null>(messages.map(({ id }) => id)).add(null)
  return [...new Set(messages.flatMap(({ parentId }) => (ids.has(parentId) ? [] : [parentId!])))]
}

/** `messages` are those that can be read, in the order of the conversation; so is the result. */
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

/** By its id, because ids sort in the order of the conversation; before what follows it, where an older version let them
 * go back with the clock. */
function placeOf(all: readonly Info[], id: string, child: Info | undefined): number {
  return child ? all.indexOf(child) : all.findLastIndex((message) => message.id < id) + 1
}

/** Messages are on the branch of the one that they follow, except for those that turn away to another one. */
function branchOf(children: readonly Info[]): string | undefined {
  return children.find((message) => !turnsAway(message))?.branch
}

/** A session does one thing at a time: a message follows the last one of its branch that was written before it. (Reverts
 * and new branches do not; where those begin is stored twice.) A branch is never joined to another one by guessing. */
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
