// The one gate. Every call of every tool, whatever its source, goes through here and comes back as a result; nothing
// is thrown. What later parts know better (constraints, permissions, snapshots) is handed in as slots.
import { bound } from "./bound.ts"
import { failure, Refused } from "./failure.ts"
import { permitReading } from "./permit-reading.ts"
import { readArguments } from "./read-arguments.ts"
import type { Context, Definition, Json, Need } from "./tool.ts"
import * as ToolRegistry from "./tool-registry.ts"

export type Call = { id: string; name: string; arguments?: Json; invalid?: string }
export type Step = { call: Call; tool: Definition; args: unknown; needs: Need[]; context: Context }
export type Refusal = { message: string }
export type Slots = {
  constrain?(step: Step): Promise<Refusal | undefined> | Refusal | undefined
  permit?(step: Step): Promise<Refusal | undefined> | Refusal | undefined
  snapshot?(step: Step): Promise<void> | void
}
export type Result = {
  status: "success" | "error" | "interrupted"
  /** What the model sees, at most 50 KB. */
  text: string
  data?: Json
  title?: string
  error?: { message: string; stack?: string; recoverable: boolean }
  /** Which slot said no. */
  refused?: "constraint" | "permission"
  /** Milliseconds. */
  duration: number
}

/** find → validate → constraint → permission → snapshot → execute → bound the output */
export async function runTool(options: { call: Call; context: Context; slots?: Slots }): Promise<Result> {
  const { call, context, slots = {} } = options
  const start = performance.now()
  const timed = (result: Omit<Result, "duration">): Result => ({
    ...result,
    duration: Math.round(performance.now() - start),
  })
  try {
    context.signal.throwIfAborted()
    return timed(await orAborted(pass(call, context, slots), context.signal))
  } catch (error) {
    return timed(await failure(error, context))
  }
}

async function pass(call: Call, context: Context, slots: Slots): Promise<Omit<Result, "duration">> {
  const tool = ToolRegistry.get(call.name)
  const args = await readArguments(tool, call)
  const step: Step = { call, tool, args, context, needs: tool.permission?.(args) ?? [] }
  refuse("constraint", await slots.constrain?.(step))
  refuse("permission", await (slots.permit ?? permitReading)(step))
  await slots.snapshot?.(step)
  context.signal.throwIfAborted()
  const returned = await tool.execute(args, context)
  return { status: "success", ...(await bound(returned, context)) }
}

function refuse(by: "constraint" | "permission", refusal: Refusal | undefined) {
  if (refusal) throw new Refused(by, refusal.message)
}

/** A tool, or a person who is asked, that does not listen to the signal must not hold up the session. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}
