// Hooks around the calls of tools, as slots of the gate: before a call they may block it, want a person asked or change its
// arguments; before a person is asked they may refuse; after the call they may add to its result.
import { judgeStep } from "#ability/call/judge-step.ts"
import type { Told } from "#ability/hook/fire.ts"
import { fromHook, namesOf, responseOf, toHook } from "#ability/hook/tool-names.ts"
import type { Refusal, Result, Step } from "#ability/tool/run-tool.ts"
import { keep } from "#engine/record/append.ts"
import type { Asked } from "#engine/rights/questions.ts"
import type { PromptHooks } from "#engine/run/prompt-hooks.ts"
import type { Run } from "#engine/run/run.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import type { Fire } from "./session-hooks.ts"

type Place = Pick<Run, "permits" | "progress">

export function createCallHooks(tell: Fire): PromptHooks["calls"] {
  return (run, asked, permit) => {
    const context: string[] = []
    let asking: Told | undefined
    return {
      async before(step) {
        const told = await tell("PreToolUse", aboutOf(step), fieldsOf(step))
        const blocked = refusalOf(step, told)
        if (blocked) return blocked
        asking = told.find(({ answer }) => answer.ask !== undefined)
        context.push(...contextOf(told))
        const by = told.findLast(({ answer }) => answer.input !== undefined)
        return by && ((await refuseChange(by, step)) ?? change(by, { run, asked, step, context }))
      },
      async permit(step) {
        return (await refuse(run, asked, step)) ?? permit(step)
      },
      async after(step, result) {
        const fields = fieldsOf(step)
        if (result.status !== "success") {
          const failure = { ...fields, error: result.text, is_interrupt: false }
          const told = await tell("PostToolUseFailure", aboutOf(step), failure)
          return withContext(result, [...context, ...contextOf(told, { withBlocks: true })])
        }
        const tool_response = responseOf(step.tool, fields.tool_input, result)
        const told = await tell("PostToolUse", aboutOf(step), { ...fields, tool_response })
        const output = told.findLast(({ answer }) => answer.output !== undefined)?.answer.output
        const { data: _, colors: __, ...rest } = result
        const shown = output === undefined ? result : { ...rest, text: output }
        return withContext(shown, [...context, ...contextOf(told, { withBlocks: true })])
      },
    }

    /** The other hooks judge the changed arguments: one hook must not undo what another blocks. */
    async function refuseChange({ hook, answer }: Told, step: Step): Promise<Refusal | undefined> {
      const changed = { ...step, args: fromHook(step.tool, answer.input!, step.call.arguments) }
      const about = { ...aboutOf(changed), changedBy: hook }
      const told = await tell("PreToolUse", about, fieldsOf(changed))
      asking ??= told.find(({ answer }) => answer.ask !== undefined)
      return refusalOf(step, told)
    }

    /** Asks what only hooks want to have asked, and lets them refuse what a person would be asked. */
    async function refuse({ permits }: Place, asked: Asked, step: Step): Promise<Refusal | undefined> {
      const { action } = await judgeStep(step, (await permits.rights.now()).decide)
      if (action === "ask" && permits.asks !== "deny") {
        const told = await tell("PermissionRequest", aboutOf(step), fieldsOf(step))
        return refusalOf(step, told)
      }
      if (action !== "allow" || !asking || permits.asks === "once") return undefined
      const { hook, answer } = asking
      const title = `The hook "${hook.name}" wants you to decide: ${answer.ask} Allow ${step.tool.id}?`
      if (await permits.confirm(asked, title)) return undefined
      const why = `The hook "${hook.name}" wants a person to decide: ${answer.ask}`
      return { message: `"${step.tool.id}" was not run. ${why} Nobody allowed it; --yes would.` }
    }
  }
}

/** The new arguments: of several hooks the last one wins. The message of the call has them from now on, because what
 * is stored must be what runs. */
function change(
  by: Told,
  { run, asked, step, context }: { run: Place; asked: Asked; step: Step; context: string[] },
) {
  const args = fromHook(step.tool, by.answer.input!, step.call.arguments)
  asked.call.arguments = args as typeof asked.call.arguments
  // A line of a command has no message of its own.
  if (asked.request.type === "tool_request") keep(run.progress.records, MessageStore.write(asked.request))
  context.push(`The hook "${by.hook.name}" changed the arguments of this call to ${JSON.stringify(args)}`)
  return { arguments: args }
}

function refusalOf({ tool }: Step, told: readonly Told[]): Refusal | undefined {
  const said = told.flatMap(({ hook, answer }) => {
    const reason =
      answer.block ?? (answer.stop === undefined ? undefined : `it stops the turn: ${answer.stop}`)
    return reason === undefined ? [] : [`The hook "${hook.name}" blocks it: ${reason}`]
  })
  return said.length ? { message: `"${tool.id}" was not run. ${said.join(" ")}` } : undefined
}

function contextOf(told: readonly Told[], { withBlocks = false } = {}): string[] {
  return told.flatMap(({ answer: { block, context } }) => [
    ...(withBlocks && block !== undefined ? [block] : []),
    ...(context === undefined ? [] : [context]),
  ])
}

function withContext<R extends Pick<Result, "text">>(result: R, context: readonly string[]): R {
  if (!context.length) return result
  return { ...result, text: `${result.text}\n\n${insideTag("hook", context.join("\n"))}` }
}

function aboutOf({ tool, call, args }: Step) {
  const { tool_input } = toHook(tool, args)
  return { what: tool.id, names: namesOf(tool), args: tool_input, toolUseId: call.id, callId: call.id }
}

function fieldsOf({ tool, args, call }: Step) {
  return { ...toHook(tool, args), tool_use_id: call.id }
}
