// Starts a run of a schedule when its time has come: a new session, and its prompt as a job, on behalf of the person who added
// the schedule. It may be done again after the death of a worker; the ids of the run are the same then.
import { statSync } from "node:fs"
import { localFolder } from "#ability/checkout/local-folder.ts"
import type { Audit } from "#edge/server/people.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import type { AgentInput } from "#engine/host/create-agent.ts"
import { chooseAgent, createFor } from "#engine/record/session-record.ts"
import * as LastRun from "#engine/schedule/last-run.ts"
import * as Schedule from "#engine/schedule/schedule.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import * as Log from "#kernel/process/log.ts"
import * as Worker from "#kernel/worker/worker.ts"
import { errorText, NamedError } from "#util/error.ts"
import { shorten } from "#util/plain-text.ts"
import type { Outcome } from "./job.ts"
import { Denied, personNow } from "./person-now.ts"
import type { Tick } from "./schedule-rows.ts"

type Options = {
  rows: Schedule.Rows
  audit: Audit.Audit
  /** Whether this worker ends: the run must go on at another one. */
  isStopping(): boolean
  submit(
    input: AgentInput & { sessionId: string },
    run: { promptId: string; scheduleId: string },
  ): Promise<unknown>
}

class Refused extends NamedError {
  constructor(reason: string) {
    super("Schedule.Denied", `The run was refused: ${reason}`)
  }
}

const mostTitle = 80

/** Throws if the run has to go on at another worker. */
export async function startRun(tick: Tick, { rows, audit, isStopping, submit }: Options): Promise<void> {
  const row = await rows.find(tick.scheduleId)
  // It was removed or paused a moment ago.
  if (!row || row.paused) return
  const note = (result: string, sessionId = "") =>
    audit.record({
      person: row.person === undefined ? undefined : { name: row.person },
      action: "schedule run",
      target: `${row.id} ${sessionId}`.trim(),
      result,
    })
  if (await isRunning(rows, tick)) {
    Log.info("a schedule was skipped: its last run is not over", { schedule: row.id })
    await LastRun.skip(row.id, tick.time)
    return note("skipped")
  }
  const run = await LastRun.begin(row.id, tick)
  if (!run) return
  try {
    const person = await personNow(row.person)
    const { promptId } = run
    const begin = async () => {
      const sessionId = await sessionOf(row, run)
      if ((await rows.statesOf([promptId])).has(promptId)) return
      await submit(inputOf(row, sessionId), { promptId, scheduleId: row.id })
    }
    await Instance.provide({
      directory: await folderOf(row),
      init: startInstance,
      fn: () => Person.run(person, begin),
    })
    await note("ok", run.sessionId)
  } catch (error) {
    if (isStopping()) throw error
    const reason = error instanceof Denied ? new Refused(error.message) : error
    const { name, message } = reason instanceof Error ? reason : new Error(errorText(reason))
    Log.warn("a run of a schedule did not start", { schedule: row.id, error: message })
    await LastRun.end(row.id, run.promptId, { result: "refused", error: { name, message } })
    await note("refused")
  }
}

/** Stores how the prompt of a run ended. */
export async function endRun(scheduleId: string, promptId: string, outcome: Outcome): Promise<void> {
  const end = "error" in outcome ? { result: "failed" as const, error: namesOf(outcome.error) } : undefined
  await LastRun.end(scheduleId, promptId, end ?? { result: "done" })
}

async function isRunning(rows: Schedule.Rows, { id, scheduleId }: Tick): Promise<boolean> {
  const kept = await LastRun.read(scheduleId)
  if (kept.last?.id === id || kept.last?.result) return false
  return [...(await rows.statesOf(LastRun.jobsOf(kept))).values()].includes("open")
}

async function folderOf({ directory }: Schedule.Row): Promise<string> {
  const folder = await localFolder(directory)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder
  throw new Refused(`the folder ${folder} does not exist on the worker ${Worker.id()}.`)
}

async function sessionOf(row: Schedule.Row, { sessionId, time }: LastRun.Run): Promise<string> {
  if (await Session.find(sessionId)) return sessionId
  const { agent, model, mode, prompt, id } = row
  const title = shorten(`Schedule: ${prompt.trim().split("\n", 1)[0]}`, mostTitle)
  const chosen = { ...(model ? { model } : {}), ...(mode ? { mode } : {}) }
  const options = { id: sessionId, title, metadata: { scheduleId: id, due: time }, ...chosen }
  return (await createFor(await chooseAgent(agent), options)).id
}

/** Nobody is there to be asked. */
function inputOf(row: Schedule.Row, sessionId: string): AgentInput & { sessionId: string } {
  const { prompt: text, agent, model, maxSteps, maxCost, timeout } = row
  const given = Object.entries({ agent, model, maxSteps, maxCost, timeout })
  const limits = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  return { sessionId, text, asks: "deny", rules: Schedule.rulesOf(row), ...limits }
}

function namesOf({ name, message }: { name: string; message: string }) {
  return { name, message }
}
