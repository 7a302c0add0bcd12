// `vitamin guard …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import { repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function guardCommands(guard: Argv<FolderOptions>) {
  return guard
    .command(
      "check",
      "Explore what the guards can do together, and report deadlocks, contradictions and guards that block nothing",
      (check) =>
        check
          .option("require", { ...repeated, describe: "action that must stay possible (default: answer)" })
          .option("format", format),
      async (options) => (await import("./guard-check.ts")).checkConfigured(options),
    )
    .demandCommand(1, "Name a command: check.")
}
