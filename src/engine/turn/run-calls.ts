// Runs the calls of one turn. Calls that only read, and tasks, run in parallel; calls that write run one by one. Each call
// gets exactly one result, in the order of the calls.

import { isDeepStrictEqual } from "node:util"
import { failure } from "#ability/call/result.ts"
import { hiddenFrom } from "#ability/mcp/if-configured.ts"
import {
  type Refusal,
  type Result,
  runTool,
  type Step,
  type Call as ToolCall,
} from "#ability/tool/run-tool.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import type { GivenImage } from "#engine/attach/see-images.ts"
import { sessionChain } from "#engine/offer/tools-for.ts"
import { append, lastId, settle, stored } from "#engine/record/append.ts"
import { Notice } from "#engine/record/notice.ts"
import { whoCanBeAsked } from "#engine/rights/permits.ts"
import { takeSnapshot } from "#engine/rights/take-snapshot.ts"
import { mayCall, type Offer, type Run } from "#engine/run/run.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Worker from "#kernel/worker/worker.ts"
import * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { addCall, type Repeat } from "./repeats.ts"
import { spawnTask } from "./spawn-task.ts"

type Request = Message.Of<"tool_request">
type Call = Request["data"]["calls"][number]

class Looping extends NamedError {
  constructor(tool: string, { times, period }: Repeat) {
    const what =
      period === 1 ? `the same call to "${tool}"` : `the same ${period} calls, the last to "${tool}",`
    super("Session.Looping", `The model made ${what} ${times} times with the same result and was stopped.`, {
      tool,
      times,
      period,
    })
  }
}

export async function runCalls(run: Run, request: Request): Promise<void> {
  // The person who is asked sees the call in its message, so it is stored first.
  if (request.data.calls.some(({ approval }) => approval === "pending")) await settle(run.progress.records)
  // Guards and hooks come before questions, so each call is asked about when its turn comes.
  const guards = run.progress.guards && (await import("./guards.ts"))
  if (!guards && !run.progress.hooks?.judgesCalls) run.permits.askPending(request)
  const images: GivenImage[] = []
  for (const { calls, readsOnly } of groups(request.data.calls)) {
    // A call that changes something must be on disk before it runs; one that only reads need not wait. Its snapshot is taken
    // meanwhile. Programs of hooks and guards, and an editor that saves its files, wait as well.
    const written = readsOnly ? undefined : stored(run.progress.records)
    written?.catch(() => {})
    if (guards || run.progress.hooks?.watchesCalls || run.editor) await written
    const offers = guards?.createOffers(run, request)
    const results = await Promise.all(
      calls.map((call) => runCall(run, { request, call, written, offered: offers?.(call) })),
    )
    await written
    const repeats = calls.map((call, i) => appendResult(run, call, results[i]!, guards))
    images.push(...results.flatMap((result, i) => imagesOf(calls[i]!, result)))
    const circle = repeats.findIndex(({ stop }) => stop)
    if (circle >= 0) await goOnOrStop(run, { request, call: calls[circle]! }, repeats[circle]!)
  }
  // After all results: providers want each result next to its call.
  if (images.length) await (await import("#engine/attach/see-images.ts")).showImages(run, images)
}

async function goOnOrStop(run: Run, asked: { request: Request; call: Call }, repeat: Repeat): Promise<void> {
  if (run.signal.aborted) return
  const { name } = asked.call
  const title = `The model repeats itself: "${name}" gave the same result ${repeat.times} times. Go on?`
  if (!(await run.permits.confirm(asked, title))) throw new Looping(name, repeat)
  run.progress.repeats = []
}

function imagesOf({ id: callId }: Call, { images = [] }: Result): GivenImage[] {
  return images.map((image) => ({ ...image, callId }))
}

/** A group of calls that can run in parallel, or one call that writes. Tasks may write, but are meant to be independent. */
function groups(calls: Call[]): { calls: Call[]; readsOnly: boolean }[] {
  const found: { calls: Call[]; readsOnly: boolean }[] = []
  for (const call of calls) {
    const readsOnly = ToolRegistry.find(call.name)?.readOnly ?? true
    const last = found.at(-1)
    const isBeside = readsOnly ? last?.readsOnly : isTask(call) && last?.calls.every(isTask)
    if (isBeside) last!.calls.push(call)
    else found.push({ calls: [call], readsOnly })
  }
  return found
}

function isTask({ name }: Call): boolean {
  return name === "subtask" || name === "delegate"
}

type Guards = typeof import("./guards.ts")
type Offered = ReturnType<ReturnType<Guards["createOffers"]>>

/** `written` resolves when everything before the call is on disk. */
type Calling = {
  request: Request
  call: Call
  written: Promise<void> | undefined
  offered: Offered | undefined
}

async function runCall(run: Run, { request, call, written, offered }: Calling): Promise<Result> {
  const context = {
    sessionId: run.session.id,
    messageId: request.id,
    callId: call.id,
    agent: run.session.agent,
    signal: run.signal,
    ...whoCanBeAsked(run.permits),
    ...(run.editor ? { editor: run.editor } : {}),
    report: (text: string) =>
      void Bus.publish(Tool.Progress, { sessionId: run.session.id, callId: call.id, text }),
    notice: (text: string) =>
      void Bus.publish(Notice, { sessionId: run.session.id, messageId: request.id, text }),
    spawn: (task: { task: string; agent?: string }) => spawnTask(run, { ...task, callId: call.id }),
    ...(run.agent.role === "orchestrator"
      ? { delegate: (order: Tool.Order) => runOrder(run, { order, callId: call.id }) }
      : {}),
    findOffers,
    ...(run.offer.more
      ? { findTools: (query: string, limit: number) => findMore(run, { query, limit }) }
      : {}),
  }
  const snapshot = takeSnapshot({ request, call, records: run.progress.records })
  const permit = run.permits.slot({ request, call })
  const { hooks } = run.progress
  const slots = {
    constrain: async (step: Step) => (await refuseForeign(run, step.tool)) ?? offered?.constrain(step),
    permit,
    ...(hooks?.watchesCalls ? hooks.calls(run, { request, call }, permit) : {}),
    async snapshot(step: Step) {
      await Promise.all([snapshot.slot(step), written])
      // The last thing before the call: a worker that was paused must not start what another one has taken over.
      if (!step.tool.readOnly) await Worker.check()
      const { sessionId, messageId, callId } = context
      Bus.publish(Tool.Started, { sessionId, messageId, callId })
    },
  }
  const result = ToolRegistry.find(call.name)
    ? await runTool({ call: call as ToolCall, context, slots })
    : { ...(await failure(new ToolRegistry.NotFound(call.name, ownNames(run.offer)), context)), duration: 0 }
  snapshot.finish()
  offered?.end()
  return result
}

async function runOrder(run: Run, given: { order: Tool.Order; callId: string }): Promise<Tool.Delegated> {
  return (await import("./run-order.ts")).runOrder(run, given)
}

async function findOffers(
  query: string,
  { server, limit }: { server: string; limit: number },
): Promise<Tool.FoundOffers> {
  const { loadRegistry } = await import("#ability/mcp/load-registry.ts")
  const options = { limit, serverId: server }
  const { resources, prompts } = await (await loadRegistry()).discoverRelevant(query, options)
  return { resources: resources.map((one) => one.resource), prompts: prompts.map((one) => one.prompt) }
}

async function findMore(run: Run, wanted: { query: string; limit: number }): Promise<Tool.FoundTool[]> {
  return (await import("#engine/offer/more-tools.ts")).findMore(run, wanted)
}

/** An error must not name tools that this agent may not use. */
function ownNames({ tools, more }: Offer): string[] {
  return [...new Set([...tools.map(({ name }) => name), ...(more?.usable.keys() ?? [])])].sort()
}

/** Refuses tools that the agent was not given, and those of servers of other sessions: the client may have removed its own
 * server of that name meanwhile. */
async function refuseForeign(run: Run, { id, server }: Tool.Definition): Promise<Refusal | undefined> {
  const isHidden = server !== undefined && hiddenFrom(await sessionChain(run.session)).has(server)
  if (mayCall(run.offer, id) && !isHidden) return undefined
  const own = run.offer.tools.map(({ name }) => name).join(", ") || "none"
  return { message: `"${id}" is not a tool of the agent "${run.agent.id}". Its tools: ${own}` }
}

/** Stores the result of a call. Returns how often in a row this call, or the last few calls, had this result. */
function appendResult(run: Run, call: Call, result: Result, guards: Guards | undefined): Repeat {
  const { status, text, duration } = result
  const said = [call.name, call.arguments, status, text]
  const repeat = addCall(run.progress.repeats, { said, duration, hasFailed: hasFailed(result) })
  const data = resultData(call, repeat.nudge ? { ...result, text: text + nudge(repeat) } : result)
  const message = Message.make({
    sessionId: run.session.id,
    parentId: lastId(run),
    branch: run.session.branch,
    type: "tool_result",
    data: guards ? guards.withKept(data, run.progress.guards!.takeKept(call.id)) : data,
  })
  append(run, message)
  return repeat
}

/** Includes commands that ended with an exit code or a signal, although their call has the status "success". */
function hasFailed({ status, data }: Result): boolean {
  const { exitCode, signal } = (data ?? {}) as { exitCode?: unknown; signal?: unknown }
  return status !== "success" || Boolean(exitCode) || Boolean(signal)
}

function nudge({ times, period, isPolling }: Repeat): string {
  const what = period === 1 ? "This same call" : `These same ${period} calls`
  const advice = isPolling
    ? "If you wait for something, wait longer between the calls."
    : "Try something else, or wait before you look again."
  return `\n\n${what} gave this same result ${times} times in a row. ${advice}`
}

/** The stored form of a call's result, for calls of models and of clients of `vitamin mcp serve`. */
export function resultData(
  call: { id: string; name: string },
  result: Result,
): Message.Of<"tool_result">["data"] {
  const { status, text, data, title, error, duration, colors } = result
  const hasText = isText(result)
  return {
    requestId: call.id,
    toolName: call.name,
    status,
    output: hasText ? text : data!,
    ...(hasText && colors ? { colors } : {}),
    ...(error ? { error } : {}),
    duration,
    timestamp: Date.now(),
    metadata: { ...(title ? { title } : {}), ...(hasText && data !== undefined ? { data } : {}) },
  }
}

/** Whether the text says more than the data. If it is only the data as JSON, the text is not stored. */
function isText({ status, text, data }: Result): boolean {
  if (status !== "success" || typeof data !== "object" || data === null) return true
  if (!/^\s*[[{]/.test(text)) return true
  try {
    return !isDeepStrictEqual(JSON.parse(text), data)
  } catch {
    return true
  }
}
