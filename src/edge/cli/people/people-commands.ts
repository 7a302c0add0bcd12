// `vitamin token …`, `vitamin limit …` and `vitamin audit` with their options. The code of a command is loaded only when it
// runs.
import type { Argv } from "yargs"
import { database, format, positiveInteger } from "#edge/cli/option/options.ts"
import type { FolderOptions, StoreOptions } from "#edge/cli/process/in-instance.ts"

export function addPeopleCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command("token", "Manage the tokens of people who share a server", tokenCommands)
    .command("limit", "Limit prompts and schedules on servers of a database", limitCommands)
    .command(
      "audit",
      "Show what people did on this server, the newest first",
      (audit) =>
        audit
          .option("person", { type: "string", requiresArg: true, describe: "only of this person" })
          .option("since", { type: "string", requiresArg: true, describe: "from this day on: YYYY-MM-DD" })
          .option("until", { type: "string", requiresArg: true, describe: "up to this day, included" })
          .option("limit", { ...positiveInteger("--limit", "how many entries to show"), default: 100 })
          .option("format", format)
          .option("database", database),
      async (options) => (await import("./audit.ts")).showAudit(options),
    )
}

function tokenCommands(token: Argv<FolderOptions>) {
  return token
    .option("database", database)
    .command(
      "add <name>",
      "Create the token of a person, and print it once",
      (add) =>
        name(add)
          .option("role", {
            choices: ["reader", "member", "admin"] as const,
            demandOption: true,
            describe: "reader: looks; member: prompts; admin: everything",
          })
          .option("expires", {
            type: "string",
            requiresArg: true,
            describe: "when it ends: 12h, 30d, or a day as YYYY-MM-DD",
          }),
      async (options) => (await import("./token.ts")).addToken(options),
    )
    .command(
      "list",
      "List the people who have a token",
      (list) => list.option("format", format),
      async (options) => (await import("./token.ts")).listTokens(options),
    )
    .command("remove <name>", "Revoke the token of a person; their sessions stay", name, async (options) =>
      (await import("./token.ts")).removeToken(options),
    )
    .demandCommand(1, "Name a command: add, list or remove.")
}

function limitCommands(limit: Argv<FolderOptions>) {
  return limit
    .option("database", database)
    .command(
      "list",
      "List the limits",
      (list) => list.option("format", format),
      async (options) => (await import("./limit.ts")).listLimits(options),
    )
    .command(
      "set <name> <number>",
      "Set a limit for all servers, from now on",
      (set) =>
        limitName(set).positional("number", {
          type: "string",
          demandOption: true,
          describe: "how many prompts or schedules",
        }),
      async (options) => (await import("./limit.ts")).setLimit(options),
    )
    .command("remove <name>", "Restore the default of a limit", limitName, async (options) =>
      (await import("./limit.ts")).removeLimit(options),
    )
    .demandCommand(1, "Name a command: list, set or remove.")
}

function limitName(command: Argv<FolderOptions & StoreOptions>) {
  return command.positional("name", {
    type: "string",
    demandOption: true,
    describe: "what, and of whom: running.person, waiting.project, schedules.fleet, …",
  })
}

function name(command: Argv<FolderOptions & StoreOptions>) {
  return command.positional("name", { type: "string", demandOption: true, describe: "name of the person" })
}
