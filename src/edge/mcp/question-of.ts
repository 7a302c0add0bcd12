// What a person would be asked before a call may run, where the rules leave it to one.
import * as Permission from "#ability/permission/permission.ts"
import { stepOf } from "#ability/tool/gate/run-tool.ts"
import { judgeStep } from "#ability/tool/judge/judge-step.ts"
import { createRights } from "#engine/rights/rights.ts"
import * as Log from "#kernel/process/log.ts"
import type { Asked } from "./call-tool.ts"
import * as ToolCalls from "./tool-calls.ts"

const maxPreview = 2_000

/** `key` is what exactly was judged. Undefined where nobody needs to be asked, or the call cannot run anyway. */
export async function questionOf(asked: Asked): Promise<{ key: string; text: string } | undefined> {
  const { agent, rules, tool, args, signal } = asked
  const session = await ToolCalls.session(agent.id)
  const context = { sessionId: session.id, messageId: "", callId: "", signal }
  // What is wrong with it is said by the gate.
  const step = await stepOf({ id: "", name: tool.id, arguments: args }, context).catch(() => undefined)
  if (!step) return undefined
  const { decide } = await createRights({ session, agent, rules }).now()
  const judgement = await judgeStep(step, decide).catch(() => undefined)
  if (judgement?.action !== "ask") return undefined
  const needs = judgement.needs.filter(({ action }) => action === "ask").map(Permission.showNeed)
  const preview = tool.preview?.(step.args)?.slice(0, maxPreview)
  const title = Log.escapeControls(`Allow ${tool.id}: ${needs.map(Permission.sayNeed).join(", ")}?`)
  const lines = preview ? preview.split("\n").map(Log.escapeControls) : []
  return { key: judgement.key, text: [title, ...lines].join("\n") }
}
