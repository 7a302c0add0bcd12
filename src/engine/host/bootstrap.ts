// Starts the runtime for a folder: migrates the records, makes the instance and its parts in order, runs the work, and
// disposes of everything afterwards, also after an error.
import { refreshCheckout } from "#engine/record/if-checkout.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Env from "#kernel/process/env.ts"
import { isGuest } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Vcs from "#kernel/vcs.ts"

/** The parts of an instance, in the order in which they start. Snapshots start with the first change (decision 019). */
const chain: [name: string, start: () => Promise<unknown>][] = [
  // The configuration is in the files of a checkout.
  ["checkout", refreshCheckout],
  ["config", () => Config.get()],
  ["vcs", () => currentVcs()],
  ["telemetry", startTelemetry],
]

/** One of them, or the configuration, turns telemetry on. */
const exportVariables = ["", "TRACES_", "METRICS_", "LOGS_"].map(
  (signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`,
)

/** Who uses an instance: how many `bootstrap` calls, and how many agents that were started or have a running prompt. */
export const users = Instance.state(
  () => ({ bootstraps: 0, agents: 0, isUp: true }),
  (users) => {
    users.isUp = false
  },
)

/** Run `callback` in the instance of a directory and dispose of it afterwards, also when the callback throws. */
export async function bootstrap<T>(directory: string, callback: () => T | Promise<T>): Promise<T> {
  await Storage.migrate()
  return Instance.provide({
    directory,
    init: startParts,
    fn: async () => {
      const here = users()
      here.bootstraps++
      try {
        return await callback()
      } finally {
        if (--here.bootstraps === 0) await Instance.dispose()
      }
    },
  })
}

/** The `init` of every instance: each part in turn. */
export async function startParts(): Promise<void> {
  for (const [name, start] of chain) {
    await start()
    Log.debug("part is up", { name, directory: Instance.directory })
  }
}

/** The guest of a sandbox exports nothing: its events reach the parent. */
async function startTelemetry(): Promise<void> {
  const isAsked =
    exportVariables.some((name) => Env.get(name)) || (await Config.get()).telemetry !== undefined
  if (isAsked && !isGuest()) await (await import("#engine/telemetry/telemetry.ts")).start()
}

/** The current branch and commit of the instance; undefined outside git. */
export async function currentVcs(): Promise<Vcs.Info | undefined> {
  const repository = Vcs.find(Instance.worktree)
  return repository && (await Vcs.read(repository))
}
