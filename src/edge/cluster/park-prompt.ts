// Ends a prompt whose workers died one after another: it is not tried again, and the session says why.
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

class Parked extends NamedError {
  constructor(sessionId: string, promptId: string, workers: number) {
    super(
      "Prompt.LostWorkersLimit",
      `The prompt was stopped: ${workers} workers ended while they ran it. It is not tried again.`,
      { sessionId, promptId, workers },
    )
  }
}

/** Throws if the worker that ran the prompt is alive after all. */
export async function parkPrompt(promptId: string, job: Job, workers: number): Promise<NamedError> {
  const parked = new Parked(job.sessionId, promptId, workers)
  Log.error(parked.message, { sessionId: job.sessionId, promptId })
  // Without the lease, a worker that was only paused would go on with the turn.
  const lease = await Worker.take(job.sessionId)
  await Worker.run(lease, () => end(promptId, job, parked)).finally(() => Worker.release(lease))
  return parked
}

async function end(promptId: string, { sessionId, directory }: Job, parked: NamedError): Promise<void> {
  const { name, message } = parked
  await StoredPrompt.remove({ id: promptId, sessionId, isJob: true })
  const tell = async () => {
    const session = await SessionRecord.find(sessionId)
    if (session)
      await SessionRecord.update(session, (draft) => {
        delete draft.owner
        Object.assign(draft, { status: "error", error: { name, message } })
      })
    Bus.publish(SessionRecord.Failed, { sessionId, error: { name, message }, promptId })
  }
  // A folder that cannot be opened here must not keep the other jobs of the dead worker waiting.
  await localFolder(directory)
    .then((folder) => Instance.provide({ directory: folder, init: startInstance, fn: tell }))
    .catch((error) =>
      Log.warn("a session was not told that its prompt ended", { sessionId, error: errorText(error) }),
    )
}
