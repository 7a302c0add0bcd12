// `vitamin models …` with its options. What a command does is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/format-option.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function modelsCommands(models: Argv<FolderOptions>) {
  // A provider is no misspelt command. The types of yargs leave the argument out.
  ;(models as { recommendCommands(isOn: boolean): unknown }).recommendCommands(false)
  return models
    .positional("provider", { type: "string", describe: "of one provider" })
    .option("refresh", { type: "boolean", describe: "fetch the newest facts first" })
    .option("from", { type: "string", describe: "the list to fetch, as models.dev gives it" })
    .implies("from", "refresh")
    .option("format", format)
    .command(
      "add <file>",
      "Use a FunctionGemma model from a GGUF file, as local/NAME",
      (add) =>
        add
          .positional("file", { type: "string", demandOption: true, describe: "it stays where it is" })
          .option("name", { type: "string", requiresArg: true, describe: "what it is called" }),
      async (options) => (await import("./added-models.ts")).addGguf(options),
    )
    .command(
      "remove <name>",
      "Forget a GGUF file; the file stays",
      (remove) => remove.positional("name", { type: "string", demandOption: true, describe: "its name" }),
      async (options) => (await import("./added-models.ts")).removeGguf(options),
    )
}
