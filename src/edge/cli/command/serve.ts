// `vitamin serve`: the HTTP server, until a signal stops it.
import { setTimeout as sleep } from "node:timers/promises"
import { boundHeap } from "#edge/cli/process/bound-heap.ts"
import { directoryOf, type FolderOptions, inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import { allRoutes } from "#edge/server/all-routes.ts"
import { createServer } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import * as Session from "#engine/session/session.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { version } from "#util/version.ts"

const grace = 500

export async function serve(options: FolderOptions & { port: number; host: string }): Promise<void> {
  const directory = directoryOf(options)
  await inInstance(options, async () => {
    await Config.watch()
    const server = await createServer({
      port: options.port,
      host: options.host,
      directory,
      version,
      init: startInstance,
      routes: allRoutes(),
      config: async () => Config.redacted(await Config.get()),
    })
    await Session.recover()
    const signalled = new Promise<number>((resolve) => onSignal(resolve))
    process.stdout.write(`vitamin is listening on ${server.url} (token in ${server.tokenFile})\n`)
    warnIfOpen(server.openUrls)
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
