// `vitamin web`: opens the page in a browser, on the server that runs, or on one that it starts.
import { createClient, createHttpTransport } from "#client/client.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { openBrowser } from "#edge/cli/process/open-browser.ts"
import { probeServer } from "#edge/cli/process/probe-server.ts"
import * as Token from "#edge/server/token.ts"
import { ownCommand } from "#util/own-command.ts"

type Options = FolderOptions & {
  port: number
  open: boolean
  person?: string | undefined
  sandbox?: boolean | undefined
}

export async function web(options: Options): Promise<void> {
  const { port, person } = options
  const found = port === 0 ? "none" : await probeServer(port)
  if (found === "own") return show(await urlOfRunning(options), options)
  if (person !== undefined)
    throw new UsageError(
      `No server of yours runs on port ${port}. Start it: ${ownCommand} serve --port ${port}`,
    )
  if (found !== "none") {
    const text = `Another program answers on port ${port}. Choose another one: ${ownCommand} web --port 0`
    throw new UsageError(text)
  }
  const { serve } = await import("./serve.ts")
  await serve({ ...options, host: "127.0.0.1" }, (server) => void show(server.signInUrl()!, options))
}

/** The server that runs already may have been started in another folder. */
async function urlOfRunning(options: Options): Promise<string> {
  if (options.sandbox)
    throw new UsageError(`A server runs already. Stop it, and start it with ${ownCommand} serve --sandbox.`)
  const url = `http://127.0.0.1:${options.port}`
  const client = createClient(createHttpTransport({ url, token: Token.find() }))
  const { person } = options
  const { code } = await client.createBrowserCode(person === undefined ? {} : { person })
  return `${url}/#code=${code}`
}

async function show(url: string, options: Options): Promise<void> {
  const address = `${url}&folder=${encodeURIComponent(directoryOf(options))}`
  process.stdout.write(`Open this address within a minute; it works once:\n${address}\n`)
  if (options.open && options.person === undefined && !(await openBrowser(address)))
    process.stderr.write("No browser could be started. Open the address by hand.\n")
}
