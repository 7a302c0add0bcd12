// What a prompt reads of a session: not the whole history, but what the last compaction keeps of it, along the parents from
// the last message back. A prompt then costs what the model's window costs, however long the session is.
import { compactionOf } from "#knowledge/memory/compaction.ts"
import { windowOf } from "#knowledge/memory/window.ts"
import type * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { historyOf } from "./history.ts"
import type { Tip } from "./tip.ts"

type Place = { id: string; branch: string }

/** What a prompt needs of a branch: the messages from the first one that the last compaction keeps. If `tip` is given
 * only these are read. If it is not, or something on the way cannot be read, the whole session is read. */
export async function recentHistory({ id, branch }: Place, tip: Tip | undefined): Promise<Message.Info[]> {
  const warm = MessageStore.warm()
  const known = warm.take(id, tip?.mark)
  const isFirst = createIsFirst()
  const recent = tip?.branch === branch && (await MessageStore.listBack(id, tip.id, { isFirst, known }))
  // A whole read may have put notes in the place of messages that cannot be read now, and perhaps can next time.
  if (!recent) return fromKept(await historyOf(id, branch))
  warm.keep(id, recent)
  return recent
}

function fromKept(whole: Message.Info[]): Message.Info[] {
  return whole.slice(windowOf(whole).start)
}

/** A history as `recentHistory` gave it, with all that stands before it. */
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

/** The messages of a branch must be passed from the newest to the oldest. True for the oldest one that is needed. */
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
