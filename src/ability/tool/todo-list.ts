// The task list of a session. It is changed under the lock of the store, since several processes may work on one
// session, and published after it was written.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { NamedError } from "#util/error.ts"

const Status = z.enum(["pending", "in_progress", "done"])
export const Item = z.strictObject({
  text: z.string().refine(isText, "expected 1 to 500 characters, none of them a control character"),
  status: Status,
})
export type Item = z.infer<typeof Item>

export const Updated = Bus.define("todo.updated", z.object({ sessionId: z.string(), todos: z.array(Item) }))

const maxItems = 200
const maxCharacters = 500

class TooMany extends NamedError {
  constructor(count: number) {
    super(
      "Todo.TooMany",
      `A list has at most ${maxItems} items, this one would have ${count}. Replace it by a shorter one.`,
    )
  }
}

/** Empty where none was written. */
export async function get(sessionId: string): Promise<Item[]> {
  try {
    return (await Storage.read<{ todos: Item[] }>(key(sessionId))).todos
  } catch (error) {
    if (error instanceof Storage.NotFound) return []
    throw error
  }
}

/** Merge items into the list by their text, or make it exactly these. Gives the whole list. */
export async function update(
  sessionId: string,
  items: Item[],
  options: { replace?: boolean } = {},
): Promise<Item[]> {
  const change = (draft: { todos: Item[] }) => {
    draft.todos = merge(options.replace ? [] : draft.todos, items)
    if (draft.todos.length > maxItems) throw new TooMany(draft.todos.length)
  }
  const { todos } = await Storage.update(key(sessionId), change, { initial: { todos: [] } })
  Bus.publish(Updated, { sessionId, todos })
  return todos
}

export function remove(sessionId: string): Promise<void> {
  return Storage.remove(key(sessionId))
}

/** Models repeat a text with other blanks and capitals; it is the same item, and keeps its place. */
function merge(old: Item[], items: Item[]): Item[] {
  const merged = new Map(old.map((item) => [sameness(item.text), item]))
  for (const { text, status } of items) {
    const name = sameness(text)
    merged.set(name, { text: merged.get(name)?.text ?? text.trim(), status })
  }
  return [...merged.values()]
}

function sameness(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase()
}

function isText(text: string): boolean {
  return text.trim() !== "" && text.length <= maxCharacters && !/\p{Cc}/u.test(text)
}

function key(sessionId: string): string[] {
  return ["todo", sessionId]
}
