// `vitamin a2a …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format, host, port, sandbox } from "#edge/cli/option/options.ts"
import { repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function a2aCommands(a2a: Argv<FolderOptions>) {
  return a2a
    .command(
      "serve",
      "Offer this folder's agents to other agents over HTTP, beside the routes of serve",
      (serve) =>
        serve
          .option("port", { ...port, default: 3143 })
          .option("host", host)
          .option("allow", { ...repeated, describe: "allow permission[:pattern]" })
          .option("deny", { ...repeated, describe: "deny permission[:pattern]" })
          .option("yes", { type: "boolean", describe: "answer every permission question with yes" })
          .option("sandbox", sandbox),
      async (options) => (await import("./a2a-serve.ts")).serveA2A(options),
    )
    .command(
      "show <name>",
      "Read the agent card of a configured remote agent and show it",
      (show) =>
        show
          .positional("name", { type: "string", demandOption: true, describe: "name in the configuration" })
          .option("format", format),
      async (options) => (await import("./a2a-show.ts")).showRemote(options),
    )
    .demandCommand(1, "Name a command: serve or show.")
}
