// The one gate. Every call of every tool, whatever its source, goes through here and comes back as a result; nothing
// is thrown. What later parts know better (constraints, permissions, snapshots) is handed in as slots.
import * as SecretFiles from "#kernel/secret-files.ts"
import { orAborted } from "#util/or-aborted.ts"
import { bound } from "./bound.ts"
import { failure, Refused } from "./failure.ts"
import { needsOf } from "./judge-step.ts"
import { permitReading } from "./permit-reading.ts"
import { readArguments } from "./read-arguments.ts"
import type { Context, Definition, Json, Need, OutputImage } from "./tool.ts"
import * as ToolRegistry from "./tool-registry.ts"

export type Call = { id: string; name: string; arguments?: Json; invalid?: string }
export type Step = { call: Call; tool: Definition; args: unknown; needs: Need[]; context: Context }
export type Refusal = { message: string }
/** What the call may reach: beyond the workspace, by the paths that it names, and on its way. */
export type Grant = Pick<Context, "reals" | "judge"> & { granted: readonly string[] }
export type Slots = {
  constrain?(step: Step): Promise<Refusal | undefined> | Refusal | undefined
  permit?(step: Step): Promise<Refusal | Grant | undefined> | Refusal | Grant | undefined
  snapshot?(step: Step): Promise<void> | void
}
export type Result = {
  status: "success" | "error" | "interrupted"
  /** What the model sees, at most 50 KB. */
  text: string
  data?: Json
  title?: string
  images?: OutputImage[]
  error?: { message: string; stack?: string; recoverable: boolean }
  /** Which slot said no. */
  refused?: "constraint" | "permission"
  /** Milliseconds that the tool itself ran: no wait for permission is in it, and a call that never ran has 0. */
  duration: number
}

/** find → validate → constraint → permission → snapshot → execute → bound the output */
export async function runTool(options: { call: Call; context: Context; slots?: Slots }): Promise<Result> {
  const { call, context, slots = {} } = options
  let start: number | undefined
  const timed = (result: Omit<Result, "duration">): Result => ({
    ...result,
    duration: start === undefined ? 0 : Math.round(performance.now() - start),
  })
  const onStart = () => {
    start = performance.now()
  }
  try {
    context.signal.throwIfAborted()
    // A tool, or a person who is asked, that does not listen to the signal must not hold up the session.
    return timed(await orAborted(pass({ call, context, slots, onStart }), context.signal))
  } catch (error) {
    return timed(await failure(error, context))
  }
}

/** What a call would do, as far as that can be said before it does it. Throws where it cannot be run at all. */
export async function stepOf(call: Call, context: Context): Promise<Step> {
  const tool = ToolRegistry.get(call.name)
  const args = await readArguments(tool, call)
  return { call, tool, args, context, needs: needsOf(tool, args) }
}

async function pass(options: {
  call: Call
  context: Context
  slots: Slots
  onStart: () => void
}): Promise<Omit<Result, "duration">> {
  const { call, context, slots, onStart } = options
  const step = await stepOf(call, context)
  const refusal = await slots.constrain?.(step)
  if (refusal) throw new Refused("constraint", refusal.message)
  const permit = await (slots.permit ?? permitReading)(step)
  if (permit && "message" in permit) throw new Refused("permission", permit.message)
  await slots.snapshot?.(step)
  context.signal.throwIfAborted()
  onStart()
  // Tools cut long lines before their output is redacted, and must know the secrets by then.
  SecretFiles.hold()
  const returned = await step.tool.execute(step.args, permit ? { ...context, ...permit } : context)
  return { status: "success", ...(await bound(returned, context)) }
}
