// `vitamin command …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function commandCommands(command: Argv<FolderOptions>) {
  return command
    .command(
      "list",
      "List the commands that a prompt may begin with, with their problems",
      (list) => list.option("format", format),
      async (options) => (await import("./command-file.ts")).listCommandFiles(options),
    )
    .command(
      "show <name>",
      "Show a command file: its settings and its text",
      (show) =>
        show
          .positional("name", { type: "string", demandOption: true, describe: "name without the slash" })
          .option("format", format),
      async (options) => (await import("./command-file.ts")).showCommandFile(options),
    )
    .demandCommand(1, "Name a command: list or show.")
}
