// One vitamin over many workers: each prompt is a job that any of them takes. A worker that dies is noticed by its
// heartbeat, and another one goes on with its turns from their records.
import type { Across } from "#edge/server/across.ts"
import { Audit } from "#edge/server/people.ts"
import type { AgentSource } from "#engine/host/agent-adapter.ts"
import type { Agent, AgentInput, Processing } from "#engine/host/create-agent.ts"
import * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import { partsOf } from "#engine/record/prompt-part.ts"
import * as Schedule from "#engine/schedule/schedule.ts"
import * as Session from "#engine/session/session.ts"
import { type Database, jobLock, withLock } from "#kernel/database/database.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import { createMail } from "#kernel/worker/create-mail.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { errorText } from "#util/error.ts"
import { createAdmission } from "./admission.ts"
import { createAnswers } from "./answers.ts"
import { createCalls } from "./calls.ts"
import { type Job, type Outcome, runJob, steer } from "./job.ts"
import { createJobQueue } from "./job-queue.ts"
import { limitSchedules } from "./limit-schedules.ts"
import { createRetries } from "./retries.ts"
import type { Tick } from "./schedule-rows.ts"
import { endRun, startRun } from "./start-run.ts"
import { sweepJobs } from "./sweep-jobs.ts"
import { watchJobs } from "./watch-jobs.ts"

export type Cluster = Readonly<{
  agentFor: AgentSource
  across: Across
  schedules: Schedule.Schedules
  stop(): Promise<void>
}>

type JobMessage = { kind: "done"; id: string; outcome: Outcome } | { kind: "steer"; id: string; job: Job }

/** A worker runs so many prompts at once. */
const atOnce = 16

/** `folder`: that of this server. */
export async function createCluster(
  database: Database,
  { agentFor, folder }: { agentFor: AgentSource; folder: string },
): Promise<Cluster> {
  const worker = Worker.id()!
  const calls = createCalls(() => mail)
  const mail = await createMail(database, { worker, take })
  const audit = Audit.createAudit()
  const watch = watchJobs(worker)
  let isStopping = false
  // The engine creates its tables without a lock: several workers that start on an empty database would deadlock.
  const starting = withLock(database.connect(), jobLock("start"), () =>
    createJobQueue<Job, Outcome>({ url: database.url, worker, atOnce, run, tick }),
  )
  const retries = createRetries({ worker, folder, jobs: starting, report })
  const jobs = await starting
  const answers = createAnswers(jobs)
  const admission = createAdmission(database, jobs)
  const schedules = Schedule.createSchedules(limitSchedules(database, jobs.ticks.rows))
  await Worker.serve(retries.takeOver, atOnce)
  const sweeping = sweepJobs(database, jobs)
  watch.start(jobs, database)

  function take(message: unknown) {
    const one = message as JobMessage
    if (one.kind === "done") answers.tell(one.id, one.outcome)
    else if (one.kind === "steer") steerHere(one.id, one.job)
    else calls.take(message)
  }

  async function run(id: string, job: Job): Promise<Outcome> {
    const work = () => runJob(agentFor, id, job).catch((error) => retries.goOnOrEnd(id, job, error))
    const outcome = await watch.run(id, work)
    // The end of this worker is no end of the prompt: the job stays open, and another worker goes on with it.
    if (isStopping && "error" in outcome && outcome.error.name === "Session.Interrupted")
      return new Promise(() => {})
    await report(id, job, outcome)
    return outcome
  }

  async function report(id: string, { from, scheduleId }: Job, outcome: Outcome) {
    if (scheduleId !== undefined) await endRun(scheduleId, id, outcome)
    if (from === worker) return answers.tell(id, outcome)
    await mail
      .send(from, { kind: "done", id, outcome })
      .catch((error) => Log.debug("the end of a job was not told", { error: errorText(error) }))
  }

  /** If it cannot join, its job runs when the session is free. */
  function steerHere(id: string, job: Job) {
    steer(agentFor, id, job).catch((error) => Log.debug("a prompt did not join", { error: errorText(error) }))
  }

  async function offerSteering(id: string, job: Job) {
    const holder = await Worker.holderOf(job.sessionId)
    if (holder === worker) steerHere(id, job)
    else if (holder !== undefined) await mail.send(holder, { kind: "steer", id, job } satisfies JobMessage)
  }

  async function tick(one: Tick): Promise<void> {
    // A tick that waited for a server comes before `jobs` is there.
    const { rows } = (await starting).ticks
    await startRun(one, { rows, audit, submit, isStopping: () => isStopping }).catch((error) => {
      if (!isStopping) throw error
      return new Promise(() => {})
    })
  }

  async function submit({ otherwise, ...given }: AgentInput, run?: { promptId: string; scheduleId: string }) {
    const { text, parts, sessionId: known, signal, stored: _, ...input } = { ...otherwise, ...given }
    const all = partsOf({ ...(text === undefined ? {} : { text }), ...(parts ? { parts } : {}) })
    const sessionId = known ?? (await Session.create(namesOf(input))).id
    const session = await Session.getFor(sessionId, "member")
    if (input.whenBusy === "refuse" && session.status !== "idle" && (await Worker.holderOf(sessionId)))
      throw new Session.Busy(sessionId, "with another prompt")
    await Session.checkPrompt({ ...input, sessionId, parts: all })
    const { agent, model } = input
    const prompt = { id: run?.promptId, sessionId, parts: all, agent, model }
    const { id, insertion } = await StoredPrompt.createJob(prompt)
    const job: Job = {
      sessionId,
      directory: session.directory,
      person: Person.current(),
      input,
      scheduleId: run?.scheduleId,
      from: worker,
    }
    await admission.add({ id, job, insertion, person: job.person?.name ?? "", project: session.projectId })
    if (input.whenBusy === "steer") await offerSteering(id, job)
    return { sessionId, promptId: id, signal }
  }

  function process(agent: Agent, input: AgentInput): Processing {
    // What cannot travel runs here.
    if (input.editor || input.runner || input.stored || input.signal) return agent.process(input)
    return {
      answer: async () => answers.wait(await submit(input)),
      accept: async () => ({ promptId: (await submit(input)).promptId }),
      [Symbol.asyncIterator]: () => agent.process(input)[Symbol.asyncIterator](),
    }
  }

  return Object.freeze<Cluster>({
    async agentFor(directory) {
      const agent = await agentFor(directory)
      return Object.create(agent, {
        process: { value: (input: AgentInput) => process(agent, input) },
      }) as Agent
    },
    across: calls,
    schedules,
    async stop() {
      isStopping = true
      answers.stop()
      sweeping.stop()
      watch.stop()
      const stopped = jobs.stop()
      await Instance.stopWork()
      await stopped
      await Promise.all([mail.close(), admission.close()])
    },
  })
}

function namesOf({ agent, model }: Pick<AgentInput, "agent" | "model">) {
  return { ...(agent ? { agent } : {}), ...(model ? { model } : {}) }
}
