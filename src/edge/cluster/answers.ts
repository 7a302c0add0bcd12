// Clients of this server that wait for the end of a prompt, whichever worker runs it.
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { answerOf, type Job, type Outcome, outcomeOfError } from "./job.ts"
import type { JobQueue } from "./job-queue.ts"

export type Answers = Readonly<{
  /** The answer to a prompt, or the error with which it ended. */
  wait(prompt: { promptId: string; sessionId: string }): Promise<Message.Info>
  tell(promptId: string, outcome: Outcome): void
  /** Ends the waiting: this server stops. */
  stop(): void
}>

/** Milliseconds. The message about the end of a job may be lost with its worker. */
const askEvery = 3_000

class Stopped extends NamedError {
  constructor(promptId: string) {
    super(
      "Worker.Interrupted",
      "The server was stopped before the prompt was over. Another server goes on with the prompt, or the next one that starts; its session will have the answer.",
      { promptId },
    )
  }
}

export function createAnswers({ endOf }: Pick<JobQueue<Job, Outcome>, "endOf">): Answers {
  const waiting = new Map<string, (outcome: Outcome) => void>()
  const tell: Answers["tell"] = (promptId, outcome) => waiting.get(promptId)?.(outcome)
  let isStopped = false
  const stop = (promptId: string) => tell(promptId, outcomeOfError(new Stopped(promptId)))

  return Object.freeze<Answers>({
    tell,
    async wait({ promptId, sessionId }) {
      const { promise, resolve } = Promise.withResolvers<Outcome>()
      waiting.set(promptId, resolve)
      if (isStopped) stop(promptId)
      const asking = setInterval(async () => {
        const end = await endOf(promptId).catch(() => undefined)
        if (end) resolve("error" in end ? outcomeOfError(end.error) : end.outcome)
      }, askEvery)
      try {
        return await answerOf(sessionId, await promise)
      } finally {
        clearInterval(asking)
        waiting.delete(promptId)
      }
    },
    stop() {
      isStopped = true
      for (const promptId of waiting.keys()) stop(promptId)
    },
  })
}
