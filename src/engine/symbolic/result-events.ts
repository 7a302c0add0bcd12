// The event of a call's result. Only the tools that run commands say how a command ended; a job says it when its end is read.
import type * as Message from "#knowledge/message/message.ts"
import { type Deed, type GuardEvent, resultOf } from "./guard-event.ts"
import { matches } from "./pattern.ts"

type Result = Message.Of<"tool_result">["data"]
type Details = Partial<Record<"exitCode" | "signal" | "timedOut" | "job" | "running" | "stopped", unknown>>

/** Tools whose results have an exit code. Any other tool could claim one. */
const running = new Set(["bash", "world_run"])
const isChange = matches(["file.write.done", "file.edit.done"])

export function createResults() {
  /** Commands that run in the background, and how many changes of files came before them. */
  const jobs = new Map<string, { deed: Deed; changes: number }>()
  let changes = 0
  return Object.freeze({
    /** Every event must be passed, in order. */
    hear(event: GuardEvent): void {
      if (isChange(event)) changes++
    },
    eventOf,
  })

  /** `isDenied`: a rule or a person did not let it run. */
  function eventOf(deed: Deed, result: Result, isDenied: boolean): GuardEvent {
    const details = running.has(deed.tool) ? detailsOf(result) : {}
    const { exitCode, signal, timedOut, job } = details
    const hasFailed = result.status !== "success" || Boolean(exitCode) || Boolean(signal) || timedOut === true
    const exit = typeof exitCode === "number" ? { exitCode } : {}
    if (deed.tool !== "bash" || typeof job !== "string")
      return resultOf(deed, { hasFailed, isDenied, ...exit })
    const { began, isOpen } = followJob(deed, job, details)
    return resultOf(began, { hasFailed, ...exit, isOpen: isOpen && !hasFailed })
  }

  /** The call that began the job. `isOpen`: a success would say nothing about the files as they are now. */
  function followJob(
    deed: Deed,
    job: string,
    { running, stopped }: Details,
  ): { began: Deed; isOpen: boolean } {
    if (running === true) {
      if (!isReading(deed)) jobs.set(job, { deed, changes })
      return { began: deed, isOpen: true }
    }
    // Another process may have begun a job of this name before.
    const known = isReading(deed) ? jobs.get(job) : undefined
    jobs.delete(job)
    if (!known) return { began: deed, isOpen: false }
    return { began: known.deed, isOpen: stopped === true || known.changes !== changes }
  }
}

function isReading({ args }: Deed): boolean {
  return (args as { job?: unknown } | undefined)?.job !== undefined
}

function detailsOf({ output, metadata }: Result): Details {
  const data = metadata?.data ?? output
  return typeof data === "object" && data !== null ? (data as Details) : {}
}
