// "All edits in this session" as a switch: what a permission reply with `edits` stores, without a question.
import * as Grant from "#ability/permission/grant.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

/** Give or take the grant for the agent of the session. Returns whether edits are allowed now. */
export async function allowEdits(sessionId: string, isAllowed: boolean): Promise<boolean> {
  const { agent } = await SessionRecord.get(sessionId)
  const grants = (await Grant.list()).filter(
    (grant) => grant.sessionId === sessionId && grant.agent === agent && Grant.isAllEdits(grant),
  )
  if (isAllowed && grants.length < Grant.allEdits().length)
    await Grant.create({ agent, sessionId, scope: "session", rules: Grant.allEdits() })
  if (!isAllowed) await Grant.remove(...grants.map(({ id }) => id))
  return isAllowed
}
