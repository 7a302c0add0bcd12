// Ends a prompt that several workers did not survive, or could not begin: it is not tried again, and the session says why.
import { localFolder } from "#ability/checkout/local-folder.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { isHere } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"
import type { Job } from "./job.ts"

export class LostWorkers extends NamedError {
  constructor(sessionId: string, promptId: string, workers: number) {
    super(
      "Prompt.LostWorkersLimit",
      `The prompt was stopped: ${workers} workers ended while they ran it. It is not tried again.`,
      { sessionId, promptId, workers },
    )
  }
}

/** Call it with the lease of the session: without it, a worker that was only paused would go on with the turn. If the folder of
 * the session cannot be opened, its clients are told by the instance of another folder. */
export async function endPrompt(
  promptId: string,
  { job: { sessionId, directory }, error: reason, folder }: { job: Job; error: unknown; folder: string },
): Promise<void> {
  const error = { name: reason instanceof Error ? reason.name : "Error", message: errorText(reason) }
  Log.error("a prompt was given up", { sessionId, promptId, error: error.message })
  const tell = async () => {
    const session = await SessionRecord.find(sessionId)
    if (session)
      await SessionRecord.update(session, (draft) => {
        // A prompt of an editor may run here.
        if (isHere(draft.owner)) return
        delete draft.owner
        Object.assign(draft, { status: "error", error })
      })
    Bus.publish(SessionRecord.Failed, { sessionId, error, promptId })
  }
  const inFolder = async (directory: string) => Instance.provide({ directory, init: startInstance, fn: tell })
  await localFolder(directory)
    .then(inFolder)
    .catch(() => inFolder(folder))
  await StoredPrompt.remove({ id: promptId, sessionId, isJob: true })
}
