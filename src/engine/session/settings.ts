// Settings of a session, from the next prompt on: its mode, and the agent and the model that answer.
import { checkModel } from "#engine/model/choose-model.ts"
import * as Queue from "#engine/queue/queue.ts"
import { writeControl } from "#engine/record/append.ts"
import { recentHistory, tipAt } from "#engine/record/history.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { hasGuards } from "#engine/run/has-guards.ts"

type Answerer = { agent?: string; model?: string }

/** Set the mode, plan or act. Rules and system prompt follow the mode; the history records the change. A busy session
 * throws `Session.Busy`; a change that a guard blocks throws `Guard.Denied`. */
export function setMode(sessionId: string, mode: SessionRecord.Info["mode"]): Promise<SessionRecord.Info> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async () => {
    const session = await SessionRecord.get(sessionId)
    if (session.mode === mode) return session
    let tip: Tip | undefined
    await Queue.whileBusy(
      { sessionId, after: () => ({ mode, tip }) },
      async ({ mode: from, branch }, before) => {
        const history = await recentHistory({ id: sessionId, branch }, before)
        const place = { sessionId, branch, parentId: history.at(-1)?.id ?? null }
        if (await hasGuards())
          await (await import("#engine/turn/guards.ts")).offerMode({ ...place, history }, { from, to: mode })
        const id = await writeControl(place, "mode_change", { from, to: mode })
        tip = tipAt({ id: sessionId, branch }, id)
      },
    )
    return SessionRecord.get(sessionId)
  })
}

/** Set the agent or the model. Refuses what does not exist or cannot be used. The session may be busy. */
export async function setAnswerer(sessionId: string, answerer: Answerer): Promise<SessionRecord.Info> {
  const session = await SessionRecord.getFor(sessionId, "member")
  const { agent, model } = answerer
  await checkAnswerer(answerer)
  return SessionRecord.update(session, (draft) =>
    Object.assign(draft, agent === undefined ? {} : { agent }, model === undefined ? {} : { model }),
  )
}

/** Set the title. The session may be busy. */
export async function setTitle(sessionId: string, title: string): Promise<SessionRecord.Info> {
  return SessionRecord.update(await SessionRecord.getFor(sessionId, "member"), (draft) => {
    draft.title = title
  })
}

/** Let another person see the session (`reader`) or also prompt it (`member`); undefined ends that. */
export async function share(
  sessionId: string,
  { name, role }: { name: string; role: "reader" | "member" | undefined },
): Promise<SessionRecord.Info> {
  return SessionRecord.update(await SessionRecord.getFor(sessionId, "owner"), (draft) => {
    const { [name]: _, ...others } = draft.shared ?? {}
    const shared = role ? { ...others, [name]: role } : others
    if (Object.keys(shared).length) draft.shared = shared
    else delete draft.shared
  })
}

/** Throws for what does not exist or cannot be used. */
export async function checkAnswerer({ agent, model }: Answerer): Promise<void> {
  if (agent !== undefined) await SessionRecord.chooseAgent(agent)
  if (model !== undefined) await checkModel(undefined, model)
}
