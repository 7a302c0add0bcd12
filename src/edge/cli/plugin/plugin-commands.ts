// `vitamin plugin …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

const yes = { type: "boolean", describe: "trust the contents as they are, without a question" } as const

export function pluginCommands(plugin: Argv<FolderOptions>) {
  return plugin
    .command(
      "add <address>",
      "Show what a plugin contains, and install it for all your folders",
      (add) =>
        add
          .positional("address", {
            type: "string",
            demandOption: true,
            describe:
              "folder, address of git, owner/repository of GitHub, npm:NAME or .tgz file; #NAME: of a marketplace",
          })
          .option("ref", { type: "string", requiresArg: true, describe: "branch or tag of a git repository" })
          .option("yes", yes),
      async (options) => (await import("./plugin.ts")).addPlugin(options),
    )
    .command(
      "list",
      "List the installed plugins",
      (list) => list.option("format", format),
      async (options) => (await import("./plugin.ts")).listPlugins(options),
    )
    .command(
      "show <plugin>",
      "Show what a plugin contains, installed or not, and what is wrong with it",
      (show) =>
        show
          .positional("plugin", { type: "string", demandOption: true, describe: "name or address" })
          .option("format", format),
      async (options) => (await import("./plugin.ts")).showPlugin(options),
    )
    .command(
      "update [plugin..]",
      "Fetch plugins again, show the differences, and install them",
      (update) =>
        update
          .positional("plugin", { type: "string", array: true, describe: "names (default: all)" })
          .option("yes", yes),
      async (options) => (await import("./plugin.ts")).updatePlugins(options),
    )
    .command(
      "remove <plugin>",
      "Remove a plugin",
      (remove) => remove.positional("plugin", { type: "string", demandOption: true, describe: "name" }),
      async (options) => (await import("./plugin.ts")).removePlugin(options),
    )
    .command(
      "new <name>",
      "Create the folder of a new plugin, with a test",
      (create) => create.positional("name", { type: "string", demandOption: true, describe: "name" }),
      async (options) => (await import("./new-plugin.ts")).newPlugin(options),
    )
    .demandCommand(1, "Name a command: add, list, show, update, remove or new.")
}
