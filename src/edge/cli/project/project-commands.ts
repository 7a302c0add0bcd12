// `vitamin project …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function addProjectCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command("project", "Manage projects that are git repositories", projectCommands)
    .command("secret", "Manage the secrets that commands of a project get", secretCommands)
}

function projectCommands(project: Argv<FolderOptions>) {
  return project
    .command(
      "add <address>",
      "Let sessions work in checkouts of a git repository",
      (add) =>
        address(add).option("trusted", {
          type: "boolean",
          default: false,
          describe: "trust its files: agents, settings, hooks, skills",
        }),
      async (options) => (await import("./project.ts")).addProject(options),
    )
    .command(
      "list",
      "List the projects",
      (list) => list.option("format", format),
      async (options) => (await import("./project.ts")).listProjects(options),
    )
    .command("remove <address>", "Remove a project; its sessions stay", address, async (options) =>
      (await import("./project.ts")).removeProject(options),
    )
    .demandCommand(1, "Name a command: add, list or remove.")
}

function secretCommands(secret: Argv<FolderOptions>) {
  return secret
    .option("project", {
      type: "string",
      requiresArg: true,
      describe: "git address of the project (default: the project of this folder)",
    })
    .command("set <name>", "Store a secret: type its value, or pipe it in", secretName, async (options) =>
      (await import("./secret.ts")).setSecret(options),
    )
    .command(
      "list",
      "List the secrets by name",
      (list) => list,
      async (options) => (await import("./secret.ts")).listSecrets(options),
    )
    .command("remove <name>", "Remove a secret, for ever", secretName, async (options) =>
      (await import("./secret.ts")).removeSecret(options),
    )
    .demandCommand(1, "Name a command: set, list or remove.")
}

function secretName<T>(command: Argv<T>) {
  return command.positional("name", {
    type: "string",
    demandOption: true,
    describe: "name of the variable that commands get",
  })
}

function address(command: Argv<FolderOptions>) {
  return command.positional("address", {
    type: "string",
    demandOption: true,
    describe: "git address: https://…, ssh://…, git@HOST:… or file:///…",
  })
}
