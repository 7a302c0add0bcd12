// The question about a call: what it needs, whom "always" would allow it, and what it would change.

import type { Judgement } from "#ability/call/judge-step.ts"
import * as Permission from "#ability/permission/permission.ts"
import type { Step } from "#ability/tool/run-tool.ts"
import type { Verdicts } from "./rights.ts"

/** A call that needs a person: the judgement, and whom "always" would allow it. */
export type Question = {
  step: Step
  judgement: Judgement
  needs: Permission.ShownNeed[]
  agents: string[]
  preview: string | undefined
}

export async function questionOf(step: Step, judgement: Judgement, { askers }: Verdicts): Promise<Question> {
  const unclear = judgement.needs.filter(({ action }) => action === "ask")
  const { previewChange } = await import("#ability/file/preview-change.ts")
  return {
    step,
    judgement,
    needs: unclear.map(Permission.showNeed),
    agents: askers(unclear),
    preview: previewChange(step, judgement.reals[0]),
  }
}
