// What was undone and redone, in words: a revert names a message by its id, which says nothing to a person.
import type { Message } from "#client/client.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

type Control = Extract<Message, { type: "system_control" }>

const maxPrompt = 120

export function createReverts() {
  const prompts = new Map<string, string>()
  /** What a revert took back. The revert of a revert is a redo. */
  const undone = new Map<string, string>()

  function nameOf(id: string): string {
    const text = prompts.get(id)
    return text ? cutTo(safeLine(text), maxPrompt) : "an earlier prompt"
  }

  return Object.freeze({
    addPrompt: (id: string, text: string) => void prompts.set(id, text),
    /** Undefined if the message is about something else. */
    wordsOf({ id, data }: Control): string | undefined {
      if (data.control !== "revert") return undefined
      const to = String((data.parameters as { to?: unknown } | undefined)?.to)
      const first = undone.get(to)
      if (first === undefined) undone.set(id, to)
      else prompts.set(id, prompts.get(first) ?? "")
      return first === undefined ? `undone: ${nameOf(to)}` : `redone: ${nameOf(first)}`
    },
  })
}
