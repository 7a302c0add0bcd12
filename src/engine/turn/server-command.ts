// A prompt of a person that begins with `/name`. Unknown names are refused before the prompt enters the queue; a server is
// asked when the turn of the prompt has come, so that an abort reaches it and nothing overtakes it.

import { Interrupted } from "#engine/queue/interrupted.ts"
import type { Input } from "#engine/run/input.ts"
import { orAborted } from "#util/or-aborted.ts"
import type { Work } from "./begin-run.ts"

const named = /^\s*(\/\S*)/

/** The words with the command that the person may have typed. What others wrote before the person's words is none. */
export function commandIn({ text, parts, mentionsIn, isText, parent }: Input): string | undefined {
  const [first] = text === undefined ? (parts ?? []) : [{ type: "text" as const, text }]
  if (isText || parent || first?.type !== "text") return undefined
  const name = named.exec(first.text)?.[1]
  return name !== undefined && name === named.exec(mentionsIn ?? first.text)?.[1] ? first.text : undefined
}

/** Whether a server is to be asked for what the words call for. Starts no server. */
export async function callsServer(input: Input): Promise<boolean> {
  const words = commandIn(input)
  if (words === undefined) return false
  const { isServerCommand } = await import("#engine/attach/expand-command.ts")
  return isServerCommand(words, input.sessionId)
}

/** With what the server says in the place of the command. */
export async function expandWork(work: Work, signal: AbortSignal): Promise<Work> {
  const { sessionId, parts } = work
  const words = commandIn(work) ?? ""
  const { expandCommand } = await import("#engine/attach/expand-command.ts")
  try {
    const called = await orAborted(expandCommand(words, sessionId), signal)
    if (!called) return work
    const mentionsIn = work.mentionsIn ?? words
    return { ...work, parts: [...called, ...parts.slice(1)], mentionsIn, typed: parts }
  } catch (error) {
    throw signal.aborted ? new Interrupted(sessionId, signal) : error
  }
}
