// `vitamin a2a serve`: this folder's agents for other agents, until a signal stops it. The same server as `vitamin serve`,
// with more routes, so that `vitamin attach` can follow the tasks.
import { startPeer } from "#edge/a2a/start-peer.ts"
import { type RuleOptions, rulesOf } from "#edge/cli/option/options.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { serveUntilSignal } from "#edge/cli/process/serve-until-signal.ts"
import { warnIfOpen } from "#edge/cli/terminal/warn-if-open.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { allRoutes } from "#edge/server/all-routes.ts"

export async function serveA2A(
  options: FolderOptions &
    RuleOptions & { port: number; host: string; yes?: boolean | undefined; sandbox?: boolean | undefined },
): Promise<void> {
  const { port, host, yes = false } = options
  const rules = await rulesOf(options)
  async function start() {
    const agents = createAgents(options)
    const agent = await agents(directoryOf(options))
    return startPeer(agent, { port, host, rules, asks: yes ? "once" : "wait" }, allRoutes(agents))
  }
  await serveUntilSignal(options, { path: "/a2a", start, ready: ({ openUrls }) => warnIfOpen(openUrls) })
}
