// Extracts a summary from messages without a model. The same messages give the same summary. It is used if the session's
// model cannot write summaries, or fails to.

import { oneLine, section, textWithin } from "#engine/run/fit-tokens.ts"
import { workingState } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"

/** `earlier` is the summary of the messages before these. */
export function extractSummary(options: {
  messages: readonly Message.Info[]
  earlier: string
  /** Tokens of the summary. */
  budget: number
}): string {
  const { messages, earlier, budget } = options
  const { goal, said, files, commands, results } = workingState(messages)
  const changed = files
    .filter((file) => file.changed > 0)
    .map(({ path, last }) => `- ${path} (${oneLine(last, 80)})`)
  const read = files.filter((file) => file.changed === 0).map(({ path }) => `- ${path}`)
  const failed = results.filter(({ status }) => status === "error").slice(-3)
  /** The newest first. */
  const list = (title: string, items: string[], share: number) =>
    section(title, items.toReversed(), budget * share)
  const ran = commands.map(({ command, outcome }) => `- ${oneLine(command, 160)}: ${outcome}`)
  const errors = failed.map(({ tool, text }) => `- ${tool}: ${oneLine(text, 200)}`)
  const parts = [
    ...(earlier ? [`Before that:\n${textWithin(earlier, budget * 0.4)}`] : []),
    ...(goal ? [`It began with: ${oneLine(goal, 400)}`] : []),
    ...list("Files changed:", changed, 0.15),
    ...list("Commands run, the newest first:", ran, 0.2),
    ...list("Files read:", read, 0.1),
    ...list("What failed last:", errors, 0.1),
    ...(said ? [`The last words of the assistant:\n${textWithin(said, budget * 0.25)}`] : []),
  ]
  return textWithin(parts.join("\n\n"), budget)
}
