// `vitamin serve`: the headless server, until it is told to stop.
import { abilityRoutes } from "#edge/server/ability-routes.ts"
import { createServer } from "#edge/server/server.ts"
import { sessionRoutes } from "#edge/server/session-routes.ts"
import { startParts } from "#engine/host/bootstrap.ts"
import * as Config from "#kernel/config/config.ts"
import { version } from "#util/version.ts"
import { directoryOf, type FolderOptions, inInstance } from "./in-instance.ts"
import { onSignal } from "./on-signal.ts"

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
      routes: [...sessionRoutes(), ...abilityRoutes()],
      config: async () => Config.redacted(await Config.get()),
    })
    const told = new Promise<void>((resolve) => onSignal(resolve))
    process.stdout.write(`vitamin is listening on ${server.url} (token in ${server.tokenFile})\n`)
    await told
    await server.stop()
  })
}

async function startAndWatch() {
  await startParts()
  await Config.watch()
}
