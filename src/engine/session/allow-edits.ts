// "All edits in this session" as a switch: what a permission reply with `edits` stores, without a question.
import * as Grant from "#ability/permission/grant.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

/** Give the grant to the agent of the session, or take it from all its agents. Returns whether edits are allowed now. */
export async function allowEdits(sessionId: string, isAllowed: boolean): Promise<boolean> {
  const { agent } = await SessionRecord.get(sessionId)
  const grants = (await Grant.list()).filter(
    (grant) => grant.sessionId === sessionId && Grant.isAllEdits(grant),
  )
  const own = grants.filter((grant) => grant.agent === agent)
  if (isAllowed && own.length < Grant.allEdits().length)
    await Grant.create({ agent, sessionId, scope: "session", rules: Grant.allEdits() })
  if (!isAllowed) await Grant.remove(...grants.map(({ id }) => id))
  return isAllowed
}
