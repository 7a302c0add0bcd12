// The gate. Every call of every tool goes through here and comes back as a result; nothing is thrown. Constraints,
// hooks, permissions and snapshots are passed in as slots, because upper layers implement them.
import { judgeStep, needsOf } from "#ability/call/judge-step.ts"
import { bound, failure, Refused } from "#ability/call/result.ts"
import type { Call, Context, Refusal, Result, Slots, Step } from "#ability/call/types.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import { orAborted } from "#util/wait.ts"
import { readArguments } from "./read-arguments.ts"
import * as ToolRegistry from "./tool-registry.ts"

export type * from "#ability/call/types.ts"

/** find → validate → before → constraint → permission → snapshot → execute → bound the output → after */
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
    // A tool, or a person, that ignores the signal must not hold up the session.
    return timed(await orAborted(pass({ call, context, slots, onStart }), context.signal))
  } catch (error) {
    return timed(await failure(error, context))
  }
}

/** What a call would do, as far as that is known before it runs. Throws if it cannot run at all. */
export async function stepOf(call: Call, context: Context): Promise<Step> {
  const tool = ToolRegistry.get(call.name)
  const args = await readArguments(tool, call)
  return { call, tool, args, context, needs: needsOf(tool, args, context) }
}

async function pass(options: {
  call: Call
  context: Context
  slots: Slots
  onStart: () => void
}): Promise<Omit<Result, "duration">> {
  const { call, context, slots, onStart } = options
  let step = await stepOf(call, context)
  const before = await slots.before?.(step)
  if (before && "message" in before) throw new Refused("hook", before.message)
  if (before) step = await stepOf({ ...call, arguments: before.arguments }, context)
  const refusal = await slots.constrain?.(step)
  if (refusal) throw new Refused("constraint", refusal.message)
  const permit = await (slots.permit ?? permitReading)(step)
  if (permit && "message" in permit) throw new Refused("permission", permit.message)
  await slots.snapshot?.(step)
  context.signal.throwIfAborted()
  onStart()
  // Tools cut long lines before their output is redacted, so they must know the secrets by then.
  SecretFiles.register()
  const result = await execute(step, permit ? { ...context, ...permit } : context)
  // Nobody sees what follows an aborted call.
  return slots.after && !context.signal.aborted ? slots.after(step, result) : result
}

async function execute({ tool, args }: Step, context: Context): Promise<Omit<Result, "duration">> {
  try {
    return { status: "success", ...(await bound(await tool.execute(args, context), context)) }
  } catch (error) {
    return failure(error, context)
  }
}

/** The default of the permission slot: what the built-in rules allow, and no questions. */
async function permitReading(step: Step): Promise<Refusal | undefined> {
  const layer = { source: "default", rules: Permission.defaults }
  const { needs } = await judgeStep(step, (need) => Permission.evaluate(need, layer))
  const open = needs.filter(({ action }) => action !== "allow")
  return open.length ? { message: Permission.sayNobody(step.tool.id, open) } : undefined
}
