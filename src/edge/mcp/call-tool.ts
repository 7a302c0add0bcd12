// Runs a tool for an MCP client: through the gate like every other call, with the rules, guards, hooks, snapshots and
// records of a session.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { judgeStep } from "#ability/call/judge-step.ts"
import { hasHooks } from "#ability/hook/has-hooks.ts"
import type * as Permission from "#ability/permission/permission.ts"
import {
  type Call,
  type Grant,
  type Refusal,
  type Result,
  runTool,
  type Step,
} from "#ability/tool/run-tool.ts"
import type { Context, Definition, Json } from "#ability/tool/tool.ts"
import { keep, settle } from "#engine/record/append.ts"
import { createPermits } from "#engine/rights/permits.ts"
import { createRights, type Rights } from "#engine/rights/rights.ts"
import { takeSnapshot } from "#engine/rights/take-snapshot.ts"
import { hasGuards } from "#engine/run/has-guards.ts"
import { createProgress } from "#engine/run/run.ts"
import { resultData } from "#engine/turn/run-calls.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createId } from "#util/id.ts"
import * as ToolCalls from "./tool-calls.ts"

export type ToolCall = {
  agent: AgentDefinition
  rules: readonly Permission.Rule[]
  /** Allow calls that would need a person's permission. */
  yes: boolean
  tool: Definition
  args: Json
  /** The key of the judgement that the person approved; the approval holds for that call only. */
  approved?: string | undefined
  signal: AbortSignal
  report(text: string): void
}

export async function callTool(asked: ToolCall): Promise<Result> {
  const { agent, tool } = asked
  const session = await ToolCalls.session(agent.id)
  return ToolCalls.run({ signal: asked.signal, readsOnly: tool.readOnly }, async (signal) => {
    const call = { id: createId("call"), name: tool.id, arguments: asked.args, approval: "pending" as const }
    const place = { sessionId: session.id, branch: session.branch }
    const request = ToolCalls.next({ ...place, type: "tool_request", data: { calls: [call] } })
    const kept = request.data.calls[0]!
    const progress = createProgress([request])
    const { records } = progress
    const rights = createRights({ session, agent, rules: asked.rules })
    const permits = createPermits({
      session,
      agent: agent.id,
      mayCall: (id) => id === tool.id,
      rights,
      asks: asked.yes ? "once" : "deny",
      parent: undefined,
      limit: 0,
      records,
      signal,
    })
    if (asked.approved === undefined) await permits.judge(request)
    else kept.approval = "approved"
    keep(records, MessageStore.write(request))
    // The request of a call that changes something must be on disk before the call runs.
    if (!tool.readOnly) await settle(records)
    const snapshot = takeSnapshot({ request, call: kept, records })
    const slot = permits.slot({ request, call: kept })
    const permit = async (step: Step) => (await allowedByPerson(step, rights, asked.approved)) ?? slot(step)
    const run = { session, progress, signal, agent, permits }
    const guards = (await hasGuards()) ? await import("#engine/turn/guards.ts") : undefined
    progress.guards = await guards?.openGuards(run)
    const offered = progress.guards && guards?.createOffers(run, request)(kept)
    const hooks = (await hasHooks()) ? await import("#engine/hook/session-hooks.ts") : undefined
    progress.hooks = await hooks?.openHooks({ ...run, parent: undefined, isUnasked: asked.yes })
    // A person who has approved the call was asked.
    const asks = asked.approved === undefined ? permits.asks : "wait"
    const judged = { progress, permits: { ...permits, asks } }
    const result = await runTool({
      call: kept as Call,
      context: contextOf({ sessionId: session.id, messageId: request.id, callId: call.id, signal }, asked),
      slots: {
        constrain: async (step) => offered?.constrain(step),
        permit,
        ...(progress.hooks?.watchesCalls
          ? progress.hooks.calls(judged, { request, call: kept }, permit)
          : {}),
        snapshot: snapshot.slot,
      },
    })
    snapshot.finish()
    const data = resultData(call, result)
    const full = progress.guards ? guards!.withKept(data, progress.guards.takeKept(call.id)) : data
    const answer = ToolCalls.next({ ...place, type: "tool_result", data: full })
    keep(records, MessageStore.write(answer))
    await settle(records)
    return result
  })
}

function contextOf(place: Omit<Context, "report">, { agent, report }: ToolCall): Context {
  return { ...place, agent: agent.id, report }
}

/** Grants the call if its judgement is still the one that the person approved, and no rule denies it now. */
async function allowedByPerson(
  step: Step,
  rights: Rights,
  approved: string | undefined,
): Promise<Grant | Refusal | undefined> {
  if (approved === undefined) return undefined
  const { decide } = await rights.now()
  const { action, key, grantedByPerson, reals } = await judgeStep(step, decide)
  if (action !== "ask" || key !== approved) return undefined
  return { granted: grantedByPerson, reals, judge: (need) => decide(need).action }
}
