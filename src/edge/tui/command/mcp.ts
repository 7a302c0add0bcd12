// `/mcp`: the MCP servers, to connect, to disconnect and to sign in to.
import type { McpServer } from "#client/client.ts"
import { waitForLogin } from "#edge/tui/question/browser-login.ts"
import type { Command, Context } from "./context.ts"
import { countOf } from "./words.ts"

export const mcpCommand: Command = {
  name: "mcp",
  about: "list the MCP servers, connect and disconnect them, sign in",
  argument: "[login] [server]",
  async values({ client }, query) {
    const servers = await client.listMcpServers()
    const logins = servers
      .filter(({ needsLogin }) => needsLogin)
      .map(({ id }) => ({ value: `login ${id}`, about: "sign in" }))
    if (/^login(\s|$)/.test(query)) return logins
    return [...servers.map((server) => ({ value: server.id, about: stateOf(server) })), ...logins]
  },
  async run(context, rest) {
    const { client, say } = context
    const [, isLogin, name = ""] = /^(login(?:\s+|$))?(.*)$/.exec(rest) ?? []
    if (isLogin && !name) throw new Error("/mcp login takes the name of a server.")
    if (isLogin) return signIn(context, name)
    for (;;) {
      const servers = await client.listMcpServers()
      if (!servers.length) return say("no MCP server is configured")
      const items = servers.map((server) => ({ value: server, label: server.id, detail: stateOf(server) }))
      const title = "MCP servers: choose one to connect, disconnect or sign in"
      const chosen = name ? servers.find(({ id }) => id === name) : await context.ask.choose({ title, items })
      if (!chosen && name) throw new Error(`There is no MCP server "${name}".`)
      if (!chosen) return
      if (chosen.state === "connected") await disconnect(context, chosen)
      else if (chosen.needsLogin) await signIn(context, chosen.id)
      else await connect(context, chosen)
      if (name) return
    }
  },
}

async function disconnect({ client, say }: Context, { id }: McpServer): Promise<void> {
  say(`disconnecting ${id}`)
  await client.disconnectMcpServer({ id })
  say(`${id} is disconnected`)
}

async function connect(context: Context, { id }: McpServer): Promise<void> {
  const { client, say } = context
  say(`connecting ${id}`)
  const server = await client.connectMcpServer({ id })
  if (server.needsLogin) await signIn(context, id)
  else say(server.state === "connected" ? `${id} is connected` : sentenceOf(server))
}

async function signIn({ client, ask, print, say }: Context, id: string): Promise<void> {
  const { url } = await client.startMcpLogin({ id })
  const { server } = await waitForLogin({
    ...{ url, ask, print },
    where: `to ${id}`,
    wait: () => client.waitForMcpLogin({ id }),
    cancel: () => client.cancelMcpLogin({ id }),
  })
  say(server ? `you are signed in; ${sentenceOf(server)}` : `you are signed in to ${id}`)
}

function sentenceOf(server: McpServer): string {
  const isVerb = server.needsLogin || server.state === "failed"
  return `${server.id} ${isVerb ? "" : "is "}${stateOf(server)}`
}

function stateOf({ state, error, needsLogin, tools, resources, prompts }: McpServer): string {
  if (needsLogin) return "needs a login"
  if (error) return `${state}: ${error}`
  const offers = [
    countOf(tools, "tool"),
    ...(resources ? [countOf(resources, "resource")] : []),
    ...(prompts ? [countOf(prompts, "prompt")] : []),
  ]
  return `${state}, ${offers.join(", ")}`
}
