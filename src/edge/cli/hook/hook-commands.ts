// `vitamin hook …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function hookCommands(hook: Argv<FolderOptions>) {
  return hook
    .command(
      "list",
      "List the hooks of this project, and those that are not used, with the reason",
      (list) => list.option("format", format),
      async (options) => (await import("./hook-list.ts")).listHooks(options),
    )
    .demandCommand(1, "Name a command: list.")
}
