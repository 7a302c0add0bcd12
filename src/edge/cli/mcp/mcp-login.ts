// `vitamin mcp login`: the person signs in to a server in the browser, and vitamin stores the tokens.
import { login } from "#ability/mcp/login.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import { type FolderOptions, inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"

export async function loginServer(options: FolderOptions & { name: string }): Promise<void> {
  await inInstance(options, async () => {
    const { server } = await Mcp.get(options.name)
    const interrupted = new AbortController()
    const stopListening = onSignal(() => interrupted.abort(new Error("The login was interrupted.")))
    const onUrl = (url: string) => void process.stdout.write(`Open this in a browser to sign in:\n${url}\n`)
    try {
      const outcome = await login({ server, onUrl, signal: interrupted.signal })
      const result =
        outcome === "done"
          ? `Signed in to ${server.id}.`
          : `${server.id} needs no login, or you are signed in already.`
      process.stdout.write(`${result}\n`)
      // Connect once, so that the next run knows the server's tools.
      const { state, error, tools } = await Mcp.connect(server.id)
      process.stdout.write(
        state === "connected"
          ? `It offers ${countOf(tools, "tool")}.\n`
          : `It cannot be used yet: ${error}\n`,
      )
    } finally {
      stopListening()
    }
  })
}
