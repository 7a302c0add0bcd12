// Runs the shell lines of a command (`` !`git status` ``) before its prompt is sent, and puts their output in their place.
// Each is a call of the tool `bash` that passes the gate: rules, guards and the person decide about it.
import { mayUse } from "#ability/tool/may-use.ts"
import { type Result, runTool, type Step, type Call as ToolCall } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { lastId } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import { wordsOf } from "#engine/record/prompt-part.ts"
import { whoCanBeAsked } from "#engine/rights/permits.ts"
import type { Settled, Work } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Message from "#knowledge/message/message.ts"
import { createId } from "#util/id.ts"
import type { Prompt } from "./add-prompt.ts"

const tool = "bash"
/** Characters of output that one line may add; the tool keeps the whole output in a file. */
const maxOutput = 30_000

/** The prompt with the outputs. Publishes the notices of the command. */
export async function runLines(run: Settled, work: Work): Promise<Prompt> {
  const { segments, notes } = work.filled!
  const { id: sessionId, branch } = run.session
  const parts = wordsOf(work.typed ?? work.parts)
  // A question about a line stores this message. The message with the whole text has the same id and replaces it.
  const message = Message.make({
    sessionId,
    parentId: lastId(run),
    branch,
    type: "text",
    data: { role: "user", parts },
  })
  for (const text of notes) Bus.publish(Notice, { sessionId, messageId: message.id, text })
  const texts: string[] = []
  for (const one of segments) texts.push("line" in one ? await runLine(run, message, one.line) : one.text)
  const text = texts.join("")
  return { ...work, parts: [{ type: "text", text }, ...work.parts.slice(1)], messageId: message.id }
}

async function runLine(run: Settled, request: Message.Info, line: string): Promise<string> {
  const { session, signal, permits, agent, progress } = run
  const callId = createId("call")
  const call: Message.Call = { id: callId, name: tool, arguments: { command: line }, approval: "approved" }
  const guards = progress.guards && (await import("./guards.ts"))
  const offered = guards?.createOffers(run, request)(call)
  const context = {
    sessionId: session.id,
    messageId: request.id,
    callId,
    agent: session.agent,
    signal,
    ...whoCanBeAsked(permits),
    ...(run.editor ? { editor: run.editor } : {}),
  }
  const asked = { request, call }
  const permit = (step: Step) => permits.permit(asked, step)
  const slots = {
    constrain: async (step: Step) =>
      mayUse(agent, ToolRegistry.get(tool))
        ? offered?.constrain(step)
        : { message: `"${tool}" is not a tool of the agent "${agent.id}".` },
    permit,
    ...(progress.hooks?.watchesCalls ? progress.hooks.calls(run, asked, permit) : {}),
  }
  const result = await runTool({ call: call as ToolCall, context, slots })
  offered?.end()
  signal.throwIfAborted()
  return outputOf(result, { line, sessionId: session.id, messageId: request.id })
}

function outputOf(
  { status, text }: Result,
  { line, sessionId, messageId }: { line: string; sessionId: string; messageId: string },
): string {
  const output = text.length > maxOutput ? `${text.slice(0, maxOutput)}\n(cut)` : text
  if (status === "success") return output.trimEnd()
  Bus.publish(Notice, { sessionId, messageId, text: `!\`${line}\`: ${output}` })
  return `(\`${line}\` was not run or failed: ${output})`
}
