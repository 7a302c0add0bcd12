// Shows the events of a session in the order of its messages. A message is published when it is on disk, which may be
// after events that follow it.

export type Item = {
  /** The message that is complete with this item; undefined for a part of a message. */
  id?: string
  parentId: string | null | undefined
  /** It is the first item to show: earlier messages are not waited for. */
  isFirst?: boolean
  show(): void
}

export function createInOrder(): { add(item: Item): void; flush(): void } {
  const told = new Set<string>()
  const waiting: Item[] = []

  function add(item: Item): void {
    waiting.push(item)
    showAll(takeNext)
  }

  function takeNext(): Item | undefined {
    const isNext = ({ id, parentId, isFirst }: Item) =>
      isFirst || told.has(parentId ?? "") || (told.size === 0 && id !== undefined)
    const at = waiting.findIndex(isNext)
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }

  /** An item that throws does not stop the others. The first error is thrown at the end. */
  function showAll(take: () => Item | undefined): void {
    const faults: unknown[] = []
    for (let item = take(); item; item = take()) {
      if (item.id !== undefined) told.add(item.id)
      try {
        item.show()
      } catch (error) {
        faults.push(error)
      }
    }
    if (faults.length) throw faults[0]
  }

  /** Shows the items that still wait, in the order in which they came. */
  function flush(): void {
    showAll(() => waiting.shift())
  }

  return Object.freeze({ add, flush })
}
