// Ends a prompt that several workers did not survive, or could not begin: it is not tried again, and the session says why.
import { localFolder } from "#ability/checkout/local-folder.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
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

/** Throws if the worker that ran the prompt is alive after all. */
export async function endPrompt(promptId: string, job: Job, error: unknown): Promise<void> {
  const { sessionId } = job
  Log.error("a prompt was given up", { sessionId, promptId, error: errorText(error) })
  // Without the lease, a worker that was only paused would go on with the turn.
  const lease = await Worker.take(sessionId)
  await Worker.run(lease, () => end(promptId, job, error)).finally(() => Worker.release(lease))
}

async function end(promptId: string, { sessionId, directory }: Job, reason: unknown): Promise<void> {
  const error = { name: reason instanceof Error ? reason.name : "Error", message: errorText(reason) }
  await StoredPrompt.remove({ id: promptId, sessionId, isJob: true })
  const tell = async () => {
    const session = await SessionRecord.find(sessionId)
    if (session)
      await SessionRecord.update(session, (draft) => {
        delete draft.owner
        Object.assign(draft, { status: "error", error })
      })
    Bus.publish(SessionRecord.Failed, { sessionId, error, promptId })
  }
  // A folder that cannot be opened here must not keep the other jobs of the dead worker waiting.
  await localFolder(directory)
    .then((folder) => Instance.provide({ directory: folder, init: startInstance, fn: tell }))
    .catch((error) =>
      Log.warn("a session was not told that its prompt ended", { sessionId, error: errorText(error) }),
    )
}
