// Prompts that were sent and have not started. Over HTTP, the event that a prompt began or was stopped may come before the
// answer that names it; it is remembered until then.
import type { Sent } from "./prompt-settings.ts"

export type Waiting = Sent & { promptId?: string | undefined }

/** `returned` gets a prompt that was stopped before it began. */
export function createWaitingPrompts(changed: () => void, returned: (sent: Sent) => void) {
  let all: Waiting[] = []
  const begun = new Set<string>()
  const stopped = new Set<string>()
  const withdrawn = new Set<string>()

  function remove(entry: Waiting): void {
    all = all.filter((one) => one !== entry)
    changed()
  }

  /** Whether a prompt was sent whose id is not known yet. */
  function hasUnnamed(): boolean {
    return all.some(({ promptId }) => promptId === undefined)
  }

  return Object.freeze({
    get all(): readonly Waiting[] {
      return all
    },
    add(sent: Sent): Waiting {
      const entry: Waiting = { ...sent }
      all.push(entry)
      return entry
    },
    remove,
    clear(): void {
      all = []
    },
    /** The answer has come. */
    name(entry: Waiting, promptId: string): void {
      entry.promptId = promptId
      if (begun.has(promptId)) remove(entry)
      if (!stopped.delete(promptId)) return
      remove(entry)
      returned(entry)
    },
    begin(promptId: string | undefined): void {
      const entry = all.find((one) => one.promptId === promptId)
      if (promptId === undefined) return
      begun.add(promptId)
      if (entry) remove(entry)
    },
    /** Whether the prompt was one of these, or was taken back. */
    stop(promptId: string): boolean {
      if (withdrawn.delete(promptId)) return true
      if (begun.has(promptId)) return false
      const entry = all.find((one) => one.promptId === promptId)
      if (entry) {
        remove(entry)
        returned(entry)
      } else if (hasUnnamed()) stopped.add(promptId)
      return entry !== undefined || stopped.has(promptId)
    },
    /** Takes the last one back with `removePrompt`; undefined if there is none or it has just started. */
    async withdraw(removePrompt: (promptId: string) => Promise<unknown>): Promise<Sent | undefined> {
      const entry = all.findLast(({ promptId }) => promptId !== undefined)
      const promptId = entry?.promptId
      if (!entry || promptId === undefined) return undefined
      withdrawn.add(promptId)
      try {
        await removePrompt(promptId)
      } catch {
        withdrawn.delete(promptId)
        return undefined
      }
      remove(entry)
      return entry
    },
    /** Events were missed: one that is neither stored nor begun was stopped. */
    catchUp({ stored, started }: { stored: ReadonlySet<string>; started: ReadonlySet<string> }): void {
      for (const id of started) begun.add(id)
      for (const entry of all) {
        const { promptId } = entry
        if (promptId === undefined || stored.has(promptId)) continue
        remove(entry)
        if (!begun.has(promptId)) returned(entry)
      }
    },
  })
}
