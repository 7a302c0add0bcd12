// `vitamin vault …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function vaultCommands(vault: Argv<FolderOptions>) {
  return vault
    .command<FolderOptions>(
      "list",
      "List the secrets and keys by name",
      (list) => list,
      async (options) => (await import("./vault.ts")).listVault(options),
    )
    .command("set <name>", "Store a secret: type its value, or pipe it in", name, async (options) =>
      (await import("./vault.ts")).setSecret(options),
    )
    .command("remove <name>", "Remove a secret or a key, for ever", name, async (options) =>
      (await import("./vault.ts")).removeSecret(options),
    )
    .demandCommand(1, "Name a command: list, set or remove.")
}

function name(command: Argv<FolderOptions>) {
  return command.positional("name", { type: "string", demandOption: true, describe: "name of the secret" })
}
