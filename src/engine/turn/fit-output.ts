// The answer of a prompt with an output schema: tells the model the schema, checks its final answer, and asks again if the
// answer does not fit. Loaded only for such prompts.
import { autoAgent } from "#ability/agent/agent-registry.ts"
import { rejectionOf } from "#engine/orchestrator/delegate.ts"
import { append, lastId } from "#engine/record/append.ts"
import { OutputMismatch, readOutput } from "#engine/run/output-schema.ts"
import type { OutputSchema, Run } from "#engine/run/run.ts"
import * as Message from "#knowledge/message/message.ts"

/** Answers that may be checked in one prompt. */
const maxTries = 3

/** For the system prompt. */
export function sayOutput(schema: OutputSchema): string {
  return [
    "# The form of your final answer",
    "A program reads your final answer. It must be one JSON value that fits this JSON Schema, and nothing else: no words around it, no code fence. Use tools first as far as you need them.",
    "```json",
    JSON.stringify(schema),
    "```",
  ].join("\n")
}

/** Whether the model is asked again. Throws `OutputMismatch` after the last try. */
export function askAgain(run: Run, answer: Message.Info, schema: OutputSchema): boolean {
  // The next agent answers.
  if (run.session.agent === autoAgent && rejectionOf(run.agent.id, Message.textOf(answer))) return false
  const read = readOutput(schema, Message.textOf(answer))
  if ("value" in read) return false
  run.progress.misfits = (run.progress.misfits ?? 0) + 1
  if (run.progress.misfits >= maxTries) throw new OutputMismatch(maxTries, read.problems)
  const { id: sessionId, branch } = run.session
  const problems = read.problems.map((problem) => `- ${problem}`).join("\n")
  const text = `Your answer does not fit the JSON Schema:\n${problems}\nAnswer again, with the whole JSON value and nothing else.`
  const data = {
    role: "system" as const,
    parts: [{ type: "text" as const, text }],
    origin: { kind: "output", name: "schema" },
  }
  append(run, Message.make({ sessionId, parentId: lastId(run), branch, type: "text", data }))
  return true
}

/** Throws if the last answer of a prompt does not fit, whoever gave it: a remote agent is not asked again. */
export function refuseMisfit(answer: Message.Info, schema: OutputSchema): void {
  const read = readOutput(schema, Message.textOf(answer))
  if ("problems" in read) throw new OutputMismatch(1, read.problems)
}
