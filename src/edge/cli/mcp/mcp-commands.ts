// `vitamin mcp …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format, host, port } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { ownCommand } from "#util/own-command.ts"

export function mcpCommands(mcp: Argv<FolderOptions>) {
  return mcp
    .command(
      "list",
      "List the configured servers and their state, without starting any",
      (list) => list.option("format", format),
      async (options) => (await import("./mcp.ts")).listServers(options),
    )
    .command(
      "add <name> [command..]",
      "Add a server to this project: a command, or an address with --url",
      (add) =>
        one(add)
          .parserConfiguration({ "parse-positional-numbers": false })
          .positional("command", {
            type: "string",
            array: true,
            describe: "program and arguments; put -- before arguments that begin with a dash",
          })
          .option("url", {
            type: "string",
            requiresArg: true,
            describe: "address of an HTTP server",
          })
          .option("env", { ...repeated, describe: "environment variable for the program: NAME=VALUE" })
          .option("header", { ...repeated, describe: "HTTP header for each request: NAME=VALUE" }),
      async ({ command = [], _: words, ...options }) =>
        (await import("./mcp-file.ts")).addServer({
          ...options,
          // yargs does not count words after "--" as positional arguments.
          command: [...command, ...words.slice(2).map(String)],
        }),
    )
    .command("remove <name>", "Remove a server from the files of this project", one, async (options) =>
      (await import("./mcp-file.ts")).removeServer(options),
    )
    .command(
      "test [name]",
      "Start a server, or all of them, and list what it offers",
      (test) => test.positional("name", { type: "string", describe: "server name" }).option("format", format),
      async (options) => (await import("./mcp.ts")).testServers(options),
    )
    .command(
      "show [name]",
      "Show or search the tools, resources and prompts of a server",
      (show) =>
        show
          .positional("name", { type: "string", describe: "server name; with --search all servers" })
          .option("search", { type: "string", requiresArg: true, describe: "search text" })
          .option("format", format),
      async (options) => (await import("./mcp-show.ts")).showServer(options),
    )
    .command("login <name>", "Sign in to a server", one, async (options) =>
      (await import("./mcp-login.ts")).loginServer(options),
    )
    .command(
      "serve",
      "Offer this folder's tools, and `run`, to MCP clients: on stdin and stdout, or over HTTP",
      (serve) =>
        serve
          .option("http", {
            type: "boolean",
            describe: `serve over HTTP, with the token of ${ownCommand} serve`,
          })
          .option("port", { ...port, default: 3142 })
          .option("host", host)
          .option("allow", { ...repeated, describe: "allow permission[:pattern]" })
          .option("deny", { ...repeated, describe: "deny permission[:pattern]" })
          .option("yes", { type: "boolean", describe: "answer every permission question with yes" }),
      async (options) => (await import("./mcp-serve.ts")).serveMcp(options),
    )
    .demandCommand(1, "Name a command: list, show, add, remove, test, login or serve.")
}

const repeated = { type: "string", array: true, nargs: 1, requiresArg: true } as const

function one(yargs: Argv<FolderOptions>) {
  return yargs.positional("name", { type: "string", demandOption: true, describe: "server name" })
}
