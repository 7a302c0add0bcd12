// Checks that imported messages form one session: ids are unique, every parent exists, and there is no cycle.
import type * as Message from "#knowledge/message/message.ts"

/** What is wrong with them; undefined if nothing is. */
export function checkChain(messages: readonly Message.Info[]): string | undefined {
  const parents = new Map<string, string | null>()
  for (const { id, parentId } of messages) {
    if (parents.has(id)) return `message ${id} occurs twice`
    parents.set(id, parentId)
  }
  for (const [id, parentId] of parents)
    if (parentId !== null && !parents.has(parentId))
      return `message ${id} follows ${parentId}, which does not exist`
  const circle = inCircle(parents)
  return circle === undefined ? undefined : `message ${circle} is its own ancestor`
}

function inCircle(parents: ReadonlyMap<string, string | null>): string | undefined {
  const rooted = new Set<string>()
  for (const start of parents.keys()) {
    const path = new Set<string>()
    let id: string | null = start
    for (; id !== null && !rooted.has(id); id = parents.get(id) ?? null) {
      if (path.has(id)) return id
      path.add(id)
    }
    for (const one of path) rooted.add(one)
  }
  return undefined
}
