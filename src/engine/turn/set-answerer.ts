// Sets the agent or the model that answers from the next prompt on.
import * as Provider from "#ability/provider/provider.ts"
import { fullName, splitName } from "#engine/ask/choose-model.ts"
import * as SessionRecord from "#engine/record/session-record.ts"

type Answerer = { agent?: string; model?: string }

/** Refuses what does not exist or cannot be used. The session may be busy. */
export async function setAnswerer(sessionId: string, answerer: Answerer): Promise<SessionRecord.Info> {
  const session = await SessionRecord.get(sessionId)
  const { agent, model } = answerer
  await checkAnswerer(answerer)
  return SessionRecord.update(session, (draft) =>
    Object.assign(draft, agent === undefined ? {} : { agent }, model === undefined ? {} : { model }),
  )
}

/** Throws for what does not exist or cannot be used. */
export async function checkAnswerer({ agent, model }: Answerer): Promise<void> {
  if (agent !== undefined) await SessionRecord.chooseAgent(agent)
  if (model !== undefined) await checkModel(model)
}

async function checkModel(model: string): Promise<void> {
  await Provider.getModel(...splitName(await fullName(model)))
}
