// `vitamin agent …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function agentCommands(agent: Argv<FolderOptions>) {
  return agent
    .command(
      "list",
      "List the agents",
      (list) => list.option("format", format),
      async (options) => (await import("./agent.ts")).listAgents(options),
    )
    .command(
      "show <id>",
      "Show an agent: instructions, tools and rules",
      (show) =>
        show
          .positional("id", { type: "string", demandOption: true, describe: "agent id" })
          .option("format", format),
      async (options) => (await import("./agent.ts")).showAgent(options),
    )
    .command(
      "route <request..>",
      "Show which agent a request would be routed to, and why",
      (route) =>
        route
          .positional("request", {
            type: "string",
            array: true,
            demandOption: true,
            describe: "the request to route",
          })
          .option("format", format),
      async (options) => (await import("./agent.ts")).routeAgent(options),
    )
    .demandCommand(1, "Name a command: list, show or route.")
}
