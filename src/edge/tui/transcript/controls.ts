// What was undone and redone, and where a branch begins, in words: the records name messages by their ids, which say nothing
// to a person.
import type { Message } from "#client/client.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

type Control = Extract<Message, { type: "system_control" }>

const maxPrompt = 120

export function createControls() {
  const prompts = new Map<string, string>()
  /** What a revert took back. The revert of a revert is a redo. */
  const undone = new Map<string, string>()
  /** By message: the prompt that it belongs to. */
  const owners = new Map<string, string>()
  let last: string | undefined

  function nameOf(id: string | undefined): string {
    const text = id && prompts.get(id)
    return text ? cutTo(safeLine(text), maxPrompt) : "an earlier prompt"
  }

  function revertWords(id: string, { to, isRedo }: Record<string, unknown>): string {
    const first = undone.get(String(to))
    // In a session that was opened again, the undo is not shown, and its prompt is the last one.
    if (first !== undefined || isRedo === true) {
      const redone = first ?? last
      prompts.set(id, prompts.get(redone ?? "") ?? "")
      return `redone: ${nameOf(redone)}`
    }
    undone.set(id, String(to))
    return `undone: ${nameOf(String(to))}`
  }

  function branchWords({ from, to, at }: Record<string, unknown>): string {
    const owner = owners.get(String(at))
    const isHere = owner !== undefined && owner === last
    const place = at === null ? ", from the beginning" : isHere ? "" : `, after: ${nameOf(owner)}`
    last = owner
    return `branch: ${from} → ${to}${place}`
  }

  return Object.freeze({
    addPrompt(id: string, text: string): void {
      prompts.set(id, text)
      last = id
    },
    /** A message in its place. */
    add(id: string): void {
      if (last !== undefined) owners.set(id, last)
    },
    /** Undefined if the message is about something else. */
    wordsOf({ id, data }: Control): string | undefined {
      const given = { ...(data.parameters as object | undefined) } as Record<string, unknown>
      if (data.control === "revert") return revertWords(id, given)
      return data.control === "branch_switch" ? branchWords(given) : undefined
    },
  })
}
