// Background commands of a session. Their output is read in parts. They end with the Instance, and keep it from being
// disposed as idle.
import type { Policy } from "#ability/sandbox/sandbox.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { createRecord, type Record } from "./record.ts"
import { ofInstance } from "./shells.ts"
import type { Ending, Shell } from "./start-shell.ts"

export type Job = {
  id: string
  command: string
  shell: Shell
  record: Record
  startedAt: number
  /** Somebody ended it, so its exit code says nothing. */
  stopped?: true
  ending?: Ending & { timedOut: boolean; duration: number }
}

const maxRunning = 20

class NotFound extends NamedError {
  constructor(id: string, known: string[]) {
    super(
      "Job.NotFound",
      `There is no job ${JSON.stringify(id)} in this session. ${known.length ? `Known: ${known.join(", ")}` : "None was started: use background: true."}`,
      { id, known },
    )
  }
}

const ofSessions = Instance.state(
  () => new Map<string, Job[]>(),
  async (sessions) => {
    await Promise.all([...sessions.values()].flat().map(close))
  },
)

/** Start a command. `timeout` in milliseconds; without one it may run as long as the Instance exists. The signal is that of
 * the turn: aborting a turn also ends what it started. */
export async function create(options: {
  sessionId: string
  command: string
  cwd: string
  policy?: Policy | undefined
  timeout: number | undefined
  signal: AbortSignal
}): Promise<Job> {
  const { sessionId, command, cwd, policy, timeout, signal } = options
  const jobs = list(sessionId)
  const running = jobs.filter(({ ending }) => !ending).map(({ id }) => id)
  if (running.length >= maxRunning)
    throw new NamedError(
      "Job.TooMany",
      `${running.length} jobs are running already; stop one of them first: ${running.join(", ")}`,
      { running },
    )
  const id = `job_${jobs.length + 1}`
  const record = createRecord({ sessionId, callId: id })
  const shell = await ofInstance().start({
    command,
    cwd,
    policy,
    background: true,
    signal,
    take: record.take,
  })
  const job: Job = { id, command, shell, record, startedAt: performance.now() }
  jobs.push(job)
  watch(job, timeout, signal)
  return job
}

/** The job with that id. An unknown id throws `Job.NotFound`. */
export function get(sessionId: string, id: string): Job {
  const jobs = list(sessionId)
  const job = jobs.find((one) => one.id === id)
  if (!job)
    throw new NotFound(
      id,
      jobs.map((one) => one.id),
    )
  return job
}

/** Ends a job that still runs. */
export async function stop(job: Job): Promise<void> {
  if (!job.ending) job.stopped = true
  await job.shell.stop()
}

/** End all jobs of a session, and forget them. */
export async function end(sessionId: string): Promise<void> {
  const jobs = ofSessions().get(sessionId) ?? []
  ofSessions().delete(sessionId)
  await Promise.all(jobs.map(close))
}

export function durationOf({ ending, startedAt }: Job): number {
  return ending?.duration ?? Math.round(performance.now() - startedAt)
}

function list(sessionId: string): Job[] {
  const jobs = ofSessions().get(sessionId) ?? []
  ofSessions().set(sessionId, jobs)
  return jobs
}

function watch(job: Job, timeout: number | undefined, signal: AbortSignal) {
  const release = Instance.hold()
  let timedOut = false
  const late = () => {
    timedOut = true
    void stop(job)
  }
  const timer = timeout === undefined ? undefined : setTimeout(late, timeout).unref()
  const interrupt = () => void stop(job)
  signal.addEventListener("abort", interrupt, { once: true })
  if (signal.aborted) interrupt()
  void job.shell.ended
    .then((ending) => {
      job.ending = { ...ending, timedOut, duration: durationOf(job) }
    })
    .finally(() => {
      clearTimeout(timer)
      signal.removeEventListener("abort", interrupt)
      release()
    })
}

/** `cut` also closes the file of output that was never read. */
async function close({ shell, record }: Job) {
  await shell.stop()
  await shell.ended
  await record.cut()
}
