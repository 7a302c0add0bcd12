// The calls of one turn: what only reads runs side by side, what writes waits its turn, and each has exactly one result
// in the order in which it was asked for.
import { runTool, type Call as ToolCall } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { append, lastId, type Run, settle } from "./run.ts"

type Request = Message.Of<"tool_request">
type Call = Request["data"]["calls"][number]
type Result = Awaited<ReturnType<typeof runTool>>

/** Same call and same result this often in a row: the model is told, and then stopped. */
const nudgeAt = 3
const stopAt = 6

class Looping extends NamedError {
  constructor(tool: string, times: number) {
    super(
      "Session.Looping",
      `The model made the same call to "${tool}" ${times} times with the same result and was stopped.`,
      {
        tool,
        times,
      },
    )
  }
}

export async function runCalls(run: Run, request: Request): Promise<void> {
  for (const { calls, readsOnly } of groups(request.data.calls)) {
    // What changes the world must be on record first; who only looks need not wait for the disk.
    if (!readsOnly) await settle(run.records)
    const results = await Promise.all(calls.map((call) => runCall(run, request, call)))
    const times = calls.map((call, i) => appendResult(run, call, results[i]!))
    const stopped = times.findIndex((count) => count >= stopAt)
    if (stopped >= 0) throw new Looping(calls[stopped]!.name, times[stopped]!)
  }
}

/** Calls that may go side by side, or one that writes. */
function groups(calls: Call[]): { calls: Call[]; readsOnly: boolean }[] {
  const found: { calls: Call[]; readsOnly: boolean }[] = []
  for (const call of calls) {
    const readsOnly = ToolRegistry.find(call.name)?.readOnly ?? true
    const last = found.at(-1)
    if (readsOnly && last?.readsOnly) last.calls.push(call)
    else found.push({ calls: [call], readsOnly })
  }
  return found
}

async function runCall(run: Run, request: Request, call: Call): Promise<Result> {
  const context = {
    sessionId: run.session.id,
    messageId: request.id,
    callId: call.id,
    agent: run.session.agent,
    signal: run.signal,
  }
  return runTool({ call: call as ToolCall, context })
}

/** Gives how often in a row this call had this result. */
function appendResult(run: Run, call: Call, result: Result): number {
  const { status, text, data, title, error, duration } = result
  const times = countRepeats(run, call, result)
  const message = Message.make({
    sessionId: run.session.id,
    parentId: lastId(run),
    branch: run.session.branch,
    type: "tool_result",
    data: {
      requestId: call.id,
      toolName: call.name,
      status,
      output: times >= nudgeAt ? text + nudge(times) : text,
      ...(error ? { error } : {}),
      duration,
      timestamp: Date.now(),
      metadata: { ...(title ? { title } : {}), ...(data === undefined ? {} : { data }) },
    },
  })
  append(run, message)
  return times
}

function nudge(times: number): string {
  return `\n\nThis same call gave this same result ${times} times in a row. Try something else.`
}

function countRepeats(run: Run, call: Call, result: Result): number {
  const key = JSON.stringify([call.name, call.arguments, result.status, result.text])
  run.repeats = { key, times: run.repeats.key === key ? run.repeats.times + 1 : 1 }
  return run.repeats.times
}
