// Jobs that did not come to an end: their worker died, or could not begin. They are tried again, at any worker, but not for
// ever.
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { createId } from "#util/id.ts"
import { type Job, type Outcome, outcomeOfError, whenFree } from "./job.ts"
import type { JobQueue } from "./job-queue.ts"

export type Retries = Readonly<{
  /** Goes on with the work of a worker that died. */
  takeOver: Worker.TakeOver
  /** After an error that is no end of the prompt: puts the job back and throws, or gives the prompt up. */
  goOnOrEnd(id: string, job: Job, error: unknown): Promise<Outcome>
}>

/** A job that so many workers did not survive, or could not begin, is not tried again. */
const mostAttempts = 3

/** `folder`: that of this server. `report` tells the end of a job. */
export function createRetries(options: {
  worker: string
  folder: string
  jobs: Promise<JobQueue<Job, Outcome>>
  report: (id: string, job: Job, outcome: Outcome) => Promise<void>
}): Retries {
  const { worker, folder, report } = options

  async function takeOver(dead: string, { isDrained }: { isDrained: boolean }) {
    const jobs = await options.jobs
    const left = await jobs.runningOf(dead)
    if (!isDrained)
      Log.warn("a worker died; its prompts go on at others", { worker: dead, prompts: left.length })
    const mayTry = async (id: string) => isDrained || (await Worker.countAttempt(id, dead)) < mostAttempts
    for (const { id, job } of left)
      if (await mayTry(id)) await jobs.putBack(id)
      else await giveUp(id, job)
    await jobs.ticks.takeOver(dead, mayTry)
  }

  /** Throws if the worker that ran the prompt is alive after all, and has the lease. */
  async function giveUp(id: string, job: Job) {
    const { endPrompt, LostWorkers } = await import("./end-prompt.ts")
    const error = new LostWorkers(job.sessionId, id, mostAttempts)
    await Worker.inLease(job.sessionId, () => endPrompt(id, { job, error, folder }))
    await (await options.jobs).cancel(id)
    await report(id, job, outcomeOfError(error))
  }

  /** Whoever took the session may not know of the job. Another worker may have the folder that this one cannot open. */
  async function goOnOrEnd(id: string, job: Job, error: unknown): Promise<Outcome> {
    const { runningOf, putBack } = await options.jobs
    if (!(await runningOf(worker)).some((one) => one.id === id)) throw error
    const isOver =
      !(error instanceof Worker.TakenOver) && (await Worker.countAttempt(id, createId("try"))) >= mostAttempts
    if (!isOver) {
      await putBack(id)
      throw error
    }
    const { endPrompt } = await import("./end-prompt.ts")
    await whenFree(job.sessionId, () => endPrompt(id, { job, error, folder }))
    return outcomeOfError(error)
  }

  return Object.freeze({ takeOver, goOnOrEnd })
}
