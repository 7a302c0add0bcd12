// The lines of `vitamin doctor` about telemetry: where it goes, what is wrong with its settings, and whether the collector
// takes an empty request. Nothing if it is off.
import { encodeBatch, readSettings, sendBatch, signals } from "#engine/telemetry/telemetry.ts"
import * as Config from "#kernel/config/config.ts"
import { shownUrl } from "#kernel/schema/secrets.ts"
import type { Finding } from "./doctor.ts"

const about = "telemetry"

export async function findTelemetry(directory: string): Promise<Finding[]> {
  const given = await Config.inspect({ directory }).then(
    ({ config }) => config.telemetry,
    () => undefined,
  )
  const { targets, resource, problems, contents } = readSettings(given)
  const found = problems.map((text): Finding => ({ state: "bad", about, text }))
  for (const signal of signals) {
    const target = targets[signal]
    if (!target) continue
    const where = `${signal}${contents ? ", with contents," : ""} to ${shownUrl(target.url)}`
    const sent = await sendBatch(
      target,
      encodeBatch(signal, resource, []),
      AbortSignal.timeout(target.timeout),
    )
    if (!sent.isTaken)
      found.push({
        state: "note",
        about,
        text: `${where} are dropped: ${sent.reason}`,
        todo: "start the collector, or correct the endpoint and its headers (docs/telemetry.md)",
      })
    else found.push({ state: "ok", about, text: where })
  }
  return found
}
