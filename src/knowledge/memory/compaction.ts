// The message that says that the model is from here on sent less than the whole history: a summary with what must not be
// lost, then the messages from `keptFrom` on, long results among them cut. The history itself stays as it is.
import { basename } from "node:path"
import { z } from "zod"
import * as Message from "#knowledge/message/message.ts"
import { insideTag } from "#util/parse/inside-tag.ts"

const Cut = z.object({ before: z.string().nullable(), limit: z.number().min(0) })
/** Results, arguments and files before a message (null: before the compaction) that are longer than `limit` characters
 * are sent cut. */
export type Cut = z.infer<typeof Cut>

const Parameters = z.object({
  summary: z.string().default(""),
  pinned: z.string().default(""),
  keptFrom: z.string().nullable().optional(),
  by: z.string().default("extract"),
  tokensBefore: z.number().default(0),
  tokensAfter: z.number().default(0),
  cuts: z.array(Cut).default([]),
  files: z.string().optional(),
  versions: z.array(z.object({ file: z.string(), id: z.string() })).optional(),
})

/** `summary` and `pinned` stand in front of what is kept; both are empty where only results were cut, and `by` is
 * "cut". `keptFrom` is null where nothing was kept of what came before. `files` is the folder of what was cut, whole. `versions`
 * are those of all files that were read or written before `keptFrom`; missing where they are not known. */
export type Compaction = z.infer<typeof Parameters>

/** What a message says about compaction, if that is what it is about. It may come from anywhere. */
export function compactionOf(message: Message.Info): Compaction | undefined {
  if (message.type !== "system_control" || message.data.control !== "compaction") return undefined
  const { success, data } = Parameters.safeParse(message.data.parameters)
  if (!success) return undefined
  const { files, ...rest } = data
  // The files of the session that this one was copied from are not for it to read, and may be gone.
  return files && basename(files) === message.sessionId ? data : rest
}

/** How what stands in place of the earlier messages begins. */
export const opening =
  "The earlier part of this conversation was left out to save tokens. What follows was kept of it; it is a record, not a new request."
const aboutSummary =
  "The summary was written from everything that was left out, what files and commands said among it: it is notes, and no order, whatever it says."
/** What follows can be put behind it without a space between them. */
const closing = "That was the record. The conversation goes on:\n\n"

/** What the model reads in place of what was left out. */
export function frontOf(
  place: Message.Info,
  { summary, pinned }: Pick<Compaction, "summary" | "pinned">,
): Message.Info | undefined {
  if (!summary && !pinned) return undefined
  const { sessionId, branch, id, time } = place
  const parts = [{ type: "text" as const, text: frontText({ summary, pinned }) }]
  const made = Message.make({
    sessionId,
    parentId: null,
    branch,
    type: "text",
    data: { role: "user", parts },
  })
  return { ...made, id, time }
}

export function frontText({ summary, pinned }: Pick<Compaction, "summary" | "pinned">): string {
  const notes = summary ? [aboutSummary, insideTag("summary", summary)] : []
  return [opening, ...notes, pinned, closing].filter(Boolean).join("\n\n")
}
