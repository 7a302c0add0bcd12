// How a command that serves over HTTP runs: it starts the server in the instance of its folder, prints one line, and stops
// everything when a signal comes.
import { setTimeout as sleep } from "node:timers/promises"
import type { RunningServer } from "#edge/server/server.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { boundHeap } from "./bound-heap.ts"
import { type FolderOptions, inInstance, onSignal, type StoreOptions } from "./in-instance.ts"

const grace = 500

/** `path`: where clients connect. `ready` is called after the line is printed. */
export async function serveUntilSignal(
  options: FolderOptions & StoreOptions,
  serving: { path: string; start(): Promise<RunningServer>; ready(server: RunningServer): void },
): Promise<void> {
  await inInstance(options, async () => {
    await Config.watch()
    const server = await serving.start()
    await Session.recover()
    const signalled = new Promise<number>((resolve) => onSignal(resolve))
    process.stdout.write(
      `vitamin is listening on ${server.url}${serving.path} (token in ${server.tokenFile})\n`,
    )
    serving.ready(server)
    boundHeap(32_000_000)
    process.exitCode = await signalled
    const stopped = server.stop()
    // Sessions end first, so that none continues with parts that are already disposed. Other requests still get their
    // answer.
    await Instance.stopWork()
    await Promise.race([stopped, sleep(grace, undefined, { ref: false })])
    await Instance.disposeAll()
    await stopped
  })
}
