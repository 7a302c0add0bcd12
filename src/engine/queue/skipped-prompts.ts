// The list of skipped prompts in the record of a session: prompts that were accepted and did not run.
import { z } from "zod"
import { type PromptPart, SkippedPrompt, titleOf, wordsOf } from "#engine/record/prompt-part.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"
import type { Info } from "./stored-prompt.ts"

export const Skipped = Bus.define(
  "prompt.skipped",
  z.object({ sessionId: z.string(), prompt: about("The prompt.", SkippedPrompt) }),
  {
    when: "An accepted prompt did not run: before it began, its process ended, its time was up, or it failed.",
  },
)

const mostCharacters = 1_000

/** Adds prompts to the session's list of skipped ones and publishes those that were not in it: another process may have
 * reported them already. */
export async function skip(
  session: SessionRecord.Info,
  prompts: { prompt: Info; reason: string }[],
): Promise<void> {
  if (!prompts.length) return
  let added: SkippedPrompt[] = []
  await SessionRecord.update(session, (draft) => {
    const known = new Set(draft.skipped?.map(({ id }) => id))
    added = prompts.flatMap(({ prompt: { id, time, parts }, reason }) =>
      known.has(id) ? [] : [{ id, time, text: shorten(wordsIn(parts)) || titleOf(parts), reason }],
    )
    draft.skipped = [...(draft.skipped ?? []), ...added]
  })
  for (const prompt of added) Bus.publish(Skipped, { sessionId: session.id, prompt })
}

/** Remove a prompt from the list of skipped ones: it was sent again, or nobody wants it. */
export function unlist(draft: SessionRecord.Info, promptId: string | undefined): void {
  const rest = draft.skipped?.filter(({ id }) => id !== promptId)
  if (rest?.length) draft.skipped = rest
  else delete draft.skipped
}

export function wordsIn(parts: PromptPart[]): string {
  return wordsOf(parts)
    .map((part) => part.text)
    .join("\n")
}

/** As much of a text as the list has. */
export function shorten(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text
}
