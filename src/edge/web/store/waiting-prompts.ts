// The prompts of a session that wait for their turn. A list of them may come after events that say more.
import { signal } from "@preact/signals"
import type { Client, Message, Prompt, WaitingPrompt } from "#client/client.ts"

export function createWaitingPrompts(client: Client, id: string) {
  const shown = signal<readonly WaitingPrompt[]>([])
  /** The ids of prompts that have begun or ended. */
  const over = new Set<string>()
  let sending: Promise<void> = Promise.resolve()

  function take(listed: readonly WaitingPrompt[]): void {
    shown.value = listed.filter((one) => !over.has(one.id))
  }

  function drop(promptId: string | undefined): void {
    if (promptId === undefined) return
    over.add(promptId)
    take(shown.value)
  }

  /** What was read at once. The record of a prompt is removed after its first message is stored. */
  function reset(listed: readonly WaitingPrompt[], messages: readonly Message[]): void {
    for (const { promptId } of messages) if (promptId !== undefined) over.add(promptId)
    take(listed)
  }

  async function sendNow(prompt: Prompt): Promise<void> {
    await client.promptSession({ ...prompt, id, whenBusy: "steer", prefer: "respond-async" })
    take(await client.listPrompts({ id }))
  }

  /** One after the other, so that the server gets them in the order in which they were sent. */
  function send(prompt: Prompt): Promise<void> {
    const sent = sending.then(() => sendNow(prompt))
    sending = sent.catch(() => {})
    return sent
  }

  async function withdraw(promptId: string): Promise<void> {
    await client.removePrompt({ id, promptId })
    drop(promptId)
  }

  return Object.freeze({ shown, drop, reset, send, withdraw })
}
