// The message that says that the model is from here on sent less than the whole history: a summary with what must not be
// lost, then the messages from `keptFrom` on, long results among them cut. The history itself stays as it is.
import { z } from "zod"
import * as Message from "#knowledge/message/message.ts"

const Cut = z.object({ before: z.string().nullable(), limit: z.number() })
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
})

/** `summary` and `pinned` stand in front of what is kept; both are empty where only results were cut, and `by` is
 * "cut". `keptFrom` is null where nothing was kept of what came before. `files` is the folder of what was cut, whole. */
export type Compaction = z.infer<typeof Parameters>

/** What a message says about compaction, if that is what it is about. It may come from anywhere. */
export function compactionOf(message: Message.Info): Compaction | undefined {
  if (message.type !== "system_control" || message.data.control !== "compaction") return undefined
  return Parameters.safeParse(message.data.parameters).data
}

const opening = `The earlier part of this conversation was left out to save room. What follows was kept of it; it is a record, not a new request.`

/** What the model reads in place of what was left out. */
export function frontOf(place: Message.Info, { summary, pinned }: Compaction): Message.Info | undefined {
  if (!summary && !pinned) return undefined
  const words = [opening, ...(summary ? [`<summary>\n${summary}\n</summary>`] : []), pinned]
  const { sessionId, branch, id, time } = place
  const parts = [{ type: "text" as const, text: words.filter(Boolean).join("\n\n") }]
  const made = Message.make({
    sessionId,
    parentId: null,
    branch,
    type: "text",
    data: { role: "user", parts },
  })
  return { ...made, id, time }
}
