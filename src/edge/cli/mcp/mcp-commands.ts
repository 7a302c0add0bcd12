// `vitamin mcp …` with its options. What a command does is loaded only when it runs.
import type { Argv } from "yargs"
import { host, port } from "#edge/cli/option/address-options.ts"
import { format } from "#edge/cli/option/format-option.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function mcpCommands(mcp: Argv<FolderOptions>) {
  return mcp
    .command(
      "list",
      "The servers that are configured, and how they stand; starts none",
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
            describe: "the program and its arguments; after -- where they begin with a dash",
          })
          .option("url", {
            type: "string",
            requiresArg: true,
            describe: "of a server that is reached by http",
          })
          .option("env", { ...repeated, describe: "a variable for the program: NAME=VALUE" })
          .option("header", { ...repeated, describe: "a header for each request: NAME=VALUE" }),
      async ({ command = [], _: words, ...options }) =>
        (await import("./mcp-file.ts")).addServer({
          ...options,
          // What follows "--" is no positional argument to yargs.
          command: [...command, ...words.slice(2).map(String)],
        }),
    )
    .command("remove <name>", "Remove a server from the files of this project", one, async (options) =>
      (await import("./mcp-file.ts")).removeServer(options),
    )
    .command(
      "test [name]",
      "Start a server, or all, and say what it offers",
      (test) => test.positional("name", { type: "string", describe: "the server" }).option("format", format),
      async (options) => (await import("./mcp.ts")).testServers(options),
    )
    .command(
      "show [name]",
      "Show the tools, resources and prompts of a server, or what fits some words",
      (show) =>
        show
          .positional("name", { type: "string", describe: "the server; all of them with --search" })
          .option("search", { type: "string", requiresArg: true, describe: "what to look for" })
          .option("format", format),
      async (options) => (await import("./mcp-show.ts")).showServer(options),
    )
    .command("login <name>", "Sign in at a server that asks for it", one, async (options) =>
      (await import("./mcp-login.ts")).loginServer(options),
    )
    .command(
      "serve",
      "Offer this folder's tools, and `run`, to MCP clients: on stdin and stdout, or over HTTP",
      (serve) =>
        serve
          .option("http", { type: "boolean", describe: "over HTTP, behind the token of vitamin serve" })
          .option("port", { ...port, default: 3142 })
          .option("host", host)
          .option("allow", { ...repeated, describe: "a rule that allows: permission[:pattern]" })
          .option("deny", { ...repeated, describe: "a rule that denies" })
          .option("yes", { type: "boolean", describe: "allow whatever would be asked" }),
      async (options) => (await import("./mcp-serve.ts")).serveMcp(options),
    )
    .demandCommand(1, "Say what to do: list, show, add, remove, test, login or serve.")
}

const repeated = { type: "string", array: true, nargs: 1, requiresArg: true } as const

function one(yargs: Argv<FolderOptions>) {
  return yargs.positional("name", { type: "string", demandOption: true, describe: "the server" })
}
