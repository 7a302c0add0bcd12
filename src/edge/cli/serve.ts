// `vitamin serve`: the headless server, until it is told to stop.
import { once } from "node:events"
import { createServer } from "#edge/server/server.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Config from "#kernel/config/config.ts"
import { version } from "#util/version.ts"
import { exitCodes } from "./exit.ts"
import { directoryOf, type FolderOptions, inInstance } from "./in-instance.ts"

type Options = FolderOptions & { port: number; host: string }

export async function serve(options: Options): Promise<void> {
  const directory = directoryOf(options)
  await inInstance(options, async () => {
    await Config.watch()
    const server = await createServer({
      port: options.port,
      host: options.host,
      directory,
      version,
      init: startAndWatch,
      config: async () => Config.redacted(await Config.get()),
    })
    process.stdout.write(`vitamin is listening on ${server.url} (token in ${server.tokenFile})\n`)
    await untilTold()
    await server.stop()
  })
}

async function startAndWatch() {
  await startParts()
  await Config.watch()
}

/** The first signal ends the server in good order, a second one at once. */
async function untilTold(): Promise<void> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  await Promise.race(signals.map((signal) => once(process, signal)))
  for (const signal of signals) process.on(signal, () => process.exit(exitCodes.interrupted))
}
