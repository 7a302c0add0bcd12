// `vitamin serve`: the HTTP server, until a signal stops it.
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { serveUntilSignal } from "#edge/cli/process/serve-until-signal.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import { allRoutes } from "#edge/server/all-routes.ts"
import { createServer } from "#edge/server/server.ts"
import { startInstance } from "#edge/server/start-instance.ts"
import * as Config from "#kernel/config/config.ts"
import { version } from "#util/version.ts"

export async function serve(options: FolderOptions & { port: number; host: string }): Promise<void> {
  const start = () =>
    createServer({
      port: options.port,
      host: options.host,
      directory: directoryOf(options),
      version,
      init: startInstance,
      routes: allRoutes(),
      config: async () => Config.redacted(await Config.get()),
    })
  await serveUntilSignal(options, { path: "", start, ready: ({ openUrls }) => warnIfOpen(openUrls) })
}
