// Puts the text of a slash command in place of its name. Loaded for prompts that call one.
import { textOf } from "#ability/command/fill-template.ts"
import { expandCommand } from "#engine/attach/expand-command.ts"
import type { Work } from "#engine/run/run.ts"
import { orAborted } from "#util/wait.ts"

export async function withCommand(work: Work, command: string, signal: AbortSignal): Promise<Work> {
  const { sessionId, parts } = work
  const called = await orAborted(expandCommand(command, sessionId), signal)
  if (!called) return work
  const rest = parts.slice(1)
  if (!("segments" in called))
    return { ...work, parts: [...called, ...rest], mentionsIn: work.mentionsIn ?? command, typed: parts }
  const { agent = called.agent, model = called.model } = work
  // What the person chose for this prompt goes before what the command names.
  const filled = {
    ...called,
    agent: work.agent === undefined ? called.agent : undefined,
    model: work.model === undefined ? called.model : undefined,
  }
  const text = textOf(called.segments, ({ line }) => `\`${line}\``)
  return {
    ...work,
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    parts: [{ type: "text", text }, ...rest],
    // Arguments may name files; the output of a shell line may not.
    mentionsIn: textOf(called.segments, () => " "),
    typed: parts,
    filled,
  }
}
