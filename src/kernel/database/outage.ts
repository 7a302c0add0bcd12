// Work on the database that is done again and again. Its failure is logged once, then once a minute, and then that it works
// again: a database that is away must not fill the log.
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

export type Outage = Readonly<{
  failed(error: unknown, fields?: Log.Fields): void
  over(): void
}>

const sayEvery = 60_000

/** `what` failed; `back`: it works again. */
export function createOutage(what: string, back: string): Outage {
  let saidAt: number | undefined
  return Object.freeze<Outage>({
    failed(error, fields = {}) {
      const now = performance.now()
      if (saidAt !== undefined && now - saidAt < sayEvery) return
      saidAt = now
      Log.warn(what, { ...fields, error: errorText(error) })
    },
    over() {
      if (saidAt === undefined) return
      saidAt = undefined
      Log.warn(back)
    },
  })
}
