// Prompts that begin with `/name`. Unknown names are refused before the prompt is queued. The MCP server is asked when the
// prompt starts, so that an abort reaches the request and the order of prompts is kept.

import { Interrupted } from "#engine/queue/interrupted.ts"
import type { Input } from "#engine/run/run.ts"
import { orAborted } from "#util/or-aborted.ts"
import type { Work } from "./begin-run.ts"

const named = /^\s*(\/\S*)/

/** The part with the text that the person typed. Text that others put before it is no command. */
export function commandIn({ text, parts, mentionsIn, isText, parent }: Input): string | undefined {
  const [first] = text === undefined ? (parts ?? []) : [{ type: "text" as const, text }]
  if (isText || parent || first?.type !== "text") return undefined
  const name = named.exec(first.text)?.[1]
  return name !== undefined && name === named.exec(mentionsIn ?? first.text)?.[1] ? first.text : undefined
}

/** Whether the text names a prompt of a server. Starts no server. */
export async function callsServer(input: Input): Promise<boolean> {
  const words = commandIn(input)
  if (words === undefined) return false
  const { isServerCommand } = await import("#engine/attach/expand-command.ts")
  return isServerCommand(words, input.sessionId)
}

/** The prompt with the server's answer in place of the command. */
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
