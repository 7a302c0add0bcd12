// Fits the text of a resource into the budget: as it is, as a summary by the session's model, or as its beginning and
// end. The whole text is stored in a file, which the shorter form names.
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { maxShown, outputFolder } from "#ability/call/output.ts"
import type { Chosen } from "#engine/ask/choose-model.ts"
import { canSummarize, summarizeDocument } from "#engine/compaction/summarize.ts"
import { addUsage } from "#engine/record/session-record.ts"
import { limitOf } from "#engine/run/budget.ts"
import { textWithin } from "#engine/run/fit-tokens.ts"
import type { Run } from "#engine/run/run.ts"
import * as Secret from "#kernel/process/secret.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import type * as Message from "#knowledge/message/message.ts"

/** What is needed to ask the model. */
export type Fitting = Pick<Run, "signal" | "progress" | "timing"> & { chosen: Chosen }

/** The share of the budget for one resource: several are often attached, and the conversation continues. */
const share = 0.25

export async function fitResource(
  words: string,
  message: Message.Of<"mcp_resource">,
  fitting: Fitting,
): Promise<string> {
  const limit = limitOf(fitting.chosen)
  const budget = Math.floor(limit * share)
  const text = Secret.redact(words)
  // A longer text is never sent whole.
  if (estimateTokens(text.slice(0, maxShown)) <= budget) return text
  const file = await keepWhole(text, message)
  const { chosen, signal, timing, progress } = fitting
  const asking = { sessionId: message.sessionId, chosen, signal, timing }
  const count = (usage: Message.Usage) => addUsage(progress.totals, usage)
  const summary = canSummarize(chosen)
    ? await summarizeDocument(asking, { document: text, limit, budget, count })
    : undefined
  const where = `all ${text.length} characters are in ${file}, which read and grep can open`
  return summary ? `[a summary; ${where}]\n${summary}` : `[cut; ${where}]\n${textWithin(text, budget)}`
}

async function keepWhole(text: string, { sessionId, id }: Message.Info): Promise<string> {
  const folder = outputFolder(sessionId)
  const file = join(folder, `${id}.txt`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(file, text, { mode: 0o600 })
  return file
}
