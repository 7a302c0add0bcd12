// `vitamin models …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function modelsCommands(models: Argv<FolderOptions>) {
  // A provider must not be reported as a misspelt command. The types of yargs lack this argument.
  ;(models as { recommendCommands(isOn: boolean): unknown }).recommendCommands(false)
  return models
    .positional("provider", { type: "string", describe: "list the models of this provider only" })
    .option("refresh", { type: "boolean", describe: "download the newest model list first" })
    .option("from", { type: "string", describe: "address of the model list, in the format of models.dev" })
    .implies("from", "refresh")
    .option("format", format)
    .command(
      "add <file>",
      "Use a FunctionGemma model from a GGUF file, as local/NAME",
      (add) =>
        add
          .positional("file", {
            type: "string",
            demandOption: true,
            describe: "GGUF file, which stays where it is",
          })
          .option("name", { type: "string", requiresArg: true, describe: "name of the model" }),
      async (options) => (await import("./models.ts")).addGguf(options),
    )
    .command(
      "remove <name>",
      "Remove a model; its file stays",
      (remove) =>
        remove.positional("name", { type: "string", demandOption: true, describe: "name of the model" }),
      async (options) => (await import("./models.ts")).removeGguf(options),
    )
}
