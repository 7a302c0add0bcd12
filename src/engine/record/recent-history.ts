// The part of a session that a prompt reads: the messages that the last compaction keeps, from the newest one back along
// the parents. The cost of a prompt then depends on the model's window, not on the length of the session.
import { compactionOf } from "#knowledge/memory/compaction.ts"
import { windowOf } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { historyOf } from "./history.ts"
import type { Tip } from "./tip.ts"

type Place = { id: string; branch: string }

/** The messages of a branch from the first one that the last compaction keeps. Reads only these if `tip` is given; reads
 * the whole session if it is not, or if a message cannot be read. */
export async function recentHistory({ id, branch }: Place, tip: Tip | undefined): Promise<Message.Info[]> {
  const warm = MessageStore.warm()
  const known = warm.take(id, tip?.mark)
  const isFirst = createIsFirst()
  const recent = tip?.branch === branch && (await MessageStore.listBack(id, tip.id, { isFirst, known }))
  // Notes may stand for unreadable messages here, and the next read may succeed, so nothing is cached.
  if (!recent) return fromKept(await historyOf(id, branch))
  warm.keep(id, recent)
  return recent
}

function fromKept(whole: Message.Info[]): Message.Info[] {
  return whole.slice(windowOf(whole).start)
}

/** Extends a history of `recentHistory` to the whole branch. */
export async function wholeHistory(
  { id, branch }: Place,
  history: readonly Message.Info[],
): Promise<readonly Message.Info[]> {
  const [first] = history
  if (!first || first.parentId === null) return history
  const older =
    (await MessageStore.listBack(id, first.parentId)) ?? before(first, await historyOf(id, branch))
  return older.concat(history)
}

function before(first: Message.Info, whole: Message.Info[]): Message.Info[] {
  const at = whole.findIndex(({ id }) => id === first.id)
  return whole.slice(0, Math.max(0, at))
}

/** Messages must be passed from the newest to the oldest. True for the oldest one that is needed. */
function createIsFirst(): (message: Message.Info) => boolean {
  let keptFrom: string | null | undefined
  let isCompacted = false
  return (message) => {
    if (isCompacted) return message.id === keptFrom
    const compaction = compactionOf(message)
    if (!compaction) return false
    isCompacted = true
    keptFrom = compaction.keptFrom
    return keptFrom === null
  }
}
