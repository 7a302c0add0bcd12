// What every use of DBOS in this folder agrees on.
import * as Log from "#kernel/process/log.ts"

export const applicationName = "vitamin"
export const schemaName = "vitamin_jobs"

/** The engine's own log, with less noise. */
export const quiet = {
  info: () => {},
  debug: () => {},
  warn: (said: unknown) => Log.debug("the queue of jobs", { said: String(said) }),
  error: (said: unknown) => Log.warn("the queue of jobs", { error: String(said) }),
}
