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
import type * as Message from "#knowledge/message/message.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { createAdmission } from "./admission.ts"
import { createCalls } from "./calls.ts"
import { answerOf, type Job, type Outcome, outcomeOfError, runJob, steer } from "./job.ts"
import { createJobQueue } from "./job-queue.ts"
import { limitSchedules } from "./limit-schedules.ts"
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

class Stopped extends NamedError {
  constructor(promptId: string) {
    super(
      "Worker.Interrupted",
      "The server was stopped before the prompt was over. The prompt goes on at another worker; its session will have the answer.",
      { promptId },
    )
  }
}

/** A worker runs so many prompts at once. */
const atOnce = 16
/** A job that so many workers did not survive, or could not begin, is not tried again. */
const mostAttempts = 3
/** The message about the end of a job may be lost with its worker. */
const askEvery = 3_000

export async function createCluster(database: Database, agentFor: AgentSource): Promise<Cluster> {
  const worker = Worker.id()!
  const waiting = new Map<string, (outcome: Outcome) => void>()
  const calls = createCalls(() => mail)
  const mail = await createMail(database, { worker, take })
  const audit = Audit.createAudit()
  const watch = watchJobs(worker)
  let isStopping = false
  // The engine creates its tables without a lock: several workers that start on an empty database would deadlock.
  const starting = withLock(database.connect(), jobLock("start"), () =>
    createJobQueue<Job, Outcome>({ url: database.url, worker, atOnce, run, tick }),
  )
  const jobs = await starting
  const admission = createAdmission(database, jobs)
  const schedules = Schedule.createSchedules(limitSchedules(database, jobs.ticks.rows))
  await Worker.serve(takeOver, atOnce)
  const sweeping = sweepJobs(database, jobs)
  watch.start(jobs, database)

  function take(message: unknown) {
    const one = message as JobMessage
    if (one.kind === "done") waiting.get(one.id)?.(one.outcome)
    else if (one.kind === "steer") steerHere(one.id, one.job)
    else calls.take(message)
  }

  async function run(id: string, job: Job): Promise<Outcome> {
    const outcome = await watch
      .run(id, () => runJob(agentFor, id, job))
      .catch((error) => goOnOrEnd(id, job, error))
    // The end of this worker is no end of the prompt: the job stays open, and another worker goes on with it.
    if (isStopping && "error" in outcome && outcome.error.name === "Session.Interrupted")
      return new Promise(() => {})
    await report(id, job, outcome)
    return outcome
  }

  /** Whoever took the session may not know of the job. Another worker may have the folder that this one cannot open. */
  async function goOnOrEnd(id: string, job: Job, error: unknown): Promise<Outcome> {
    const { runningOf, putBack } = await starting
    if (!(await runningOf(worker)).some((one) => one.id === id)) throw error
    if (
      error instanceof Worker.TakenOver ||
      (await Worker.countAttempt(id, createId("try"))) < mostAttempts
    ) {
      await putBack(id)
      throw error
    }
    await (await import("./end-prompt.ts")).endPrompt(id, job, error)
    return outcomeOfError(error)
  }

  async function report(id: string, { from, scheduleId }: Job, outcome: Outcome) {
    if (scheduleId !== undefined) await endRun(scheduleId, id, outcome)
    if (from === worker) return waiting.get(id)?.(outcome)
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

  /** Goes on with the work of a worker that died. */
  async function takeOver(dead: string, { isDrained }: { isDrained: boolean }) {
    const left = await jobs.runningOf(dead)
    if (!isDrained)
      Log.warn("a worker died; its prompts go on at others", { worker: dead, prompts: left.length })
    for (const { id, job } of left) {
      const attempts = isDrained ? 0 : await Worker.countAttempt(id, dead)
      if (attempts < mostAttempts) await jobs.putBack(id)
      else await park(id, job)
    }
    const mayTry = async (id: string) => isDrained || (await Worker.countAttempt(id, dead)) < mostAttempts
    await jobs.ticks.takeOver(dead, mayTry)
  }

  async function park(id: string, job: Job) {
    const { endPrompt, LostWorkers } = await import("./end-prompt.ts")
    const error = new LostWorkers(job.sessionId, id, mostAttempts)
    await endPrompt(id, job, error)
    await jobs.park(id)
    await report(id, job, outcomeOfError(error))
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

  async function answer(input: AgentInput): Promise<Message.Info> {
    const { sessionId, promptId } = await submit(input)
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    waiting.set(promptId, resolve)
    const asking = setInterval(async () => {
      const end = await jobs.endOf(promptId).catch(() => undefined)
      if (end) resolve("error" in end ? outcomeOfError(end.error) : end.outcome)
    }, askEvery)
    try {
      return await answerOf(sessionId, await promise)
    } finally {
      clearInterval(asking)
      waiting.delete(promptId)
    }
  }

  function process(agent: Agent, input: AgentInput): Processing {
    // What cannot travel runs here.
    if (input.editor || input.runner || input.stored || input.signal) return agent.process(input)
    return {
      answer: () => answer(input),
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
      for (const [promptId, tell] of waiting) tell(outcomeOfError(new Stopped(promptId)))
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
