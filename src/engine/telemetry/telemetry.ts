// Telemetry of an instance: its events become spans, metrics and log records, which are sent to an OpenTelemetry collector
// (OTLP over HTTP, as JSON). Loaded only if the environment or the configuration asks for it.
import * as Bus from "#kernel/bus/bus.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { shownUrl } from "#kernel/schema/secrets.ts"
import * as Trace from "#kernel/trace.ts"
import { createMetrics } from "./create-metrics.ts"
import { createQueue, type Queue, type Reason } from "./create-queue.ts"
import { createRecorder } from "./create-recorder.ts"
import { logOf } from "./log-of.ts"
import { dropped } from "./names.ts"
import { encodeBatch, encodeLog } from "./otlp.ts"
import { readSettings, type Settings, type Signal } from "./settings.ts"

export { encodeBatch } from "./otlp.ts"
export { sendBatch } from "./send-batch.ts"
export { readSettings, signals } from "./settings.ts"

/** Milliseconds that the end of the program may wait for the collector: first for traces and logs, then for the metrics, which
 * count what was dropped. */
const lastWaits = [1_000, 500] as const

const running = Instance.state<{ close?: () => Promise<void> }>(
  () => ({}),
  ({ close }) => close?.(),
)

/** Starts the export of this instance; the end of the instance sends the rest. */
export async function start(): Promise<void> {
  const settings = readSettings((await Config.get()).telemetry)
  for (const problem of settings.problems) Log.warn(`telemetry: ${problem}`)
  if (Object.keys(settings.targets).length > 0) running().close = follow(settings)
}

function follow(settings: Settings): () => Promise<void> {
  const metrics = createMetrics(settings)
  const drops = createDrops(settings, (signal, reason, count) =>
    metrics.count(dropped, count, { signal, "error.type": reason }),
  )
  const traces = queueOf("traces", settings.limits.traces)
  const logs = queueOf("logs", settings.limits.logs)
  // Each export replaces the one before it, so few wait.
  const measured = queueOf("metrics", { most: 64, batch: 64, delay: 1 })
  const recorder = createRecorder({ settings, metrics, add: (span) => traces?.add(span) })
  const report = () => {
    for (const metric of metrics.take()) measured?.add(metric)
  }
  const timer = setInterval(report, settings.interval).unref()
  Trace.use(recorder.traceOf, recorder.receive)
  const unsubscribe = Bus.subscribe("*", (event) => {
    const log = logs && logOf(event, settings)
    const sessionId = (event.payload as { sessionId?: string }).sessionId
    // Before the recorder, which forgets a prompt at its end.
    if (log)
      logs.add(
        encodeLog({ ...log, time: event.time, trace: sessionId ? recorder.spanOf(sessionId) : undefined }),
      )
    recorder.take(event)
  })

  return async () => {
    unsubscribe()
    clearInterval(timer)
    const late = AbortSignal.timeout(lastWaits[0])
    await Promise.all([traces?.close(late), logs?.close(late)])
    report()
    await measured?.close(AbortSignal.timeout(lastWaits[1]))
    drops.report()
  }

  function queueOf(signal: Signal, limits: Parameters<typeof createQueue>[0]["limits"]): Queue | undefined {
    const target = settings.targets[signal]
    if (!target) return undefined
    const encode = (records: string[]) => encodeBatch(signal, settings.resource, records)
    const onDrop = (reason: Reason, count: number, why: string) => drops.add(signal, { reason, count, why })
    return createQueue({ target, limits, encode, onDrop })
  }
}

/** Counts what was dropped. The first loss and the sum at the end are reported. */
function createDrops(
  { targets }: Settings,
  count: (signal: Signal, reason: Reason, count: number) => void,
): { add(signal: Signal, loss: { reason: Reason; count: number; why: string }): void; report(): void } {
  let total = 0
  let first: { where: string; why: string } | undefined
  return {
    add(signal, loss) {
      total += loss.count
      count(signal, loss.reason, loss.count)
      first ??= { where: shownUrl(targets[signal]!.url), why: loss.why }
      Log.info("telemetry was dropped", { signal, ...loss })
    },
    report() {
      if (!first) return
      Log.warn(`the telemetry collector did not take ${total} records`, {
        error: first.why,
        endpoint: first.where,
      })
    },
  }
}
