// All commands with their options. The code of a command is loaded only when it runs, so that help and errors are
// fast.

import type { Argv } from "yargs"
import { a2aCommands } from "#edge/cli/a2a/a2a-commands.ts"
import { vaultCommands } from "#edge/cli/command/vault-commands.ts"
import { guardCommands } from "#edge/cli/guard/guard-commands.ts"
import { mcpCommands } from "#edge/cli/mcp/mcp-commands.ts"
import { modelsCommands } from "#edge/cli/models/models-commands.ts"
import { format, host, port, positiveInteger, sandbox } from "#edge/cli/option/options.ts"
import { promptOptions, repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { scriptCommands } from "#edge/cli/script/script-commands.ts"
import { sessionCommands } from "#edge/cli/session/session-commands.ts"
import { skillCommands } from "#edge/cli/skill/skill-commands.ts"
import { worldCommands } from "#edge/cli/world/world-commands.ts"
import { ownCommand } from "#util/own-command.ts"

/** All commands, on a yargs that has the shared options. */
export function addCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command(
      "run [message..]",
      "Run a prompt in this folder and print the answer",
      (run) =>
        promptOptions(run)
          .positional("message", words)
          .option("prompt", {
            type: "string",
            requiresArg: true,
            describe: "use a prompt of an MCP server: SERVER/NAME, then KEY=VALUE for its arguments",
          })
          .option("refresh", {
            type: "boolean",
            describe: "first read changed attachments again, and retry those that failed",
          })
          .option("format", { ...format, describe: "json: one event per line" }),
      async ({ message = [], _: words, ...options }) =>
        (await import("#edge/cli/run/run.ts")).run({
          ...options,
          // yargs does not count words after "--" as positional arguments.
          message: [...message, ...words.slice(1).map(String)],
        }),
    )
    .command(
      "chat [message..]",
      "Open the interactive terminal, as vitamin without a command does",
      (chat) => promptOptions(chat).positional("message", words).option("plain", plain),
      async ({ message = [], _: words, ...options }) =>
        (await import("#edge/cli/command/chat.ts")).chat({
          ...options,
          message: [...message, ...words.slice(1).map(String)],
        }),
    )
    .command(
      "attach [url]",
      "Open the interactive terminal on a server",
      (attach) =>
        promptOptions(attach)
          .positional("url", {
            type: "string",
            describe: "address of the server (default: http://127.0.0.1:3141)",
          })
          .option("plain", plain),
      async (options) => (await import("#edge/cli/command/chat.ts")).attach(options),
    )
    .command("session", "Manage the sessions of this project", sessionCommands)
    .command(
      "models [provider]",
      "List models with context size, price and features",
      modelsCommands,
      async (options) => (await import("#edge/cli/models/models.ts")).listModels(options),
    )
    .command("agent", "List agents and how a request is routed", (agent) =>
      agent
        .command(
          "list",
          "List the agents",
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).listAgents(options),
        )
        .command(
          "show <id>",
          "Show an agent: instructions, tools and rules",
          (show) =>
            show
              .positional("id", { type: "string", demandOption: true, describe: "agent id" })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).showAgent(options),
        )
        .command(
          "route <request..>",
          "Show which agent a request would be routed to, and why",
          (route) =>
            route
              .positional("request", {
                type: "string",
                array: true,
                demandOption: true,
                describe: "the request to route",
              })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).routeAgent(options),
        )
        .demandCommand(1, "Name a command: list, show or route."),
    )
    .command("permission", 'Manage what you allowed with "always"', (permission) =>
      permission
        .command(
          "list",
          'List what you allowed with "always" in this project',
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/permission.ts")).listGrants(options),
        )
        .command(
          "remove [id..]",
          "Revoke a permission",
          (remove) =>
            remove
              .positional("id", {
                type: "string",
                array: true,
                describe: `id of a permission (see: ${ownCommand} permission list)`,
              })
              .option("all", { type: "boolean", describe: "revoke all of this project" }),
          async (options) => (await import("#edge/cli/command/permission.ts")).removeGrants(options),
        )
        .demandCommand(1, "Name a command: list or remove."),
    )
    .command("tool", "List and search tools", (tool) =>
      tool
        .command(
          "list",
          "List the tools that a model can use",
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/tool.ts")).listTools(options),
        )
        .command(
          "search <query..>",
          "Search tools, including those of MCP servers",
          (search) =>
            search
              .positional("query", {
                type: "string",
                array: true,
                demandOption: true,
                describe: "what the tool should do",
              })
              .option("limit", { ...positiveInteger("--limit", "how many results to show"), default: 10 })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/tool.ts")).searchTools(options),
        )
        .demandCommand(1, "Name a command: list or search."),
    )
    .command("guard", "Check, explain and simulate guards", guardCommands)
    .command("skill", "List, show and check skills", skillCommands)
    .command("script", "Keep code that an agent wrote, and run it", scriptCommands)
    .command("mcp", "Manage MCP servers", mcpCommands)
    .command("a2a", "Work with agents on other machines", a2aCommands)
    .command("auth", "Manage API keys", (auth) =>
      auth
        .command("login <provider>", "Store the API key of a provider", provider, async (options) =>
          (await import("#edge/cli/command/auth.ts")).login(options),
        )
        .command<FolderOptions>(
          "list",
          "List the providers that have a key, and where it comes from",
          (list) => list,
          async (options) => (await import("#edge/cli/command/auth.ts")).listLogins(options),
        )
        .command("logout <provider>", "Delete the API key of a provider", provider, async (options) =>
          (await import("#edge/cli/command/auth.ts")).logout(options),
        )
        .demandCommand(1, "Name a command: login, list or logout."),
    )
    .command("vault", "Keep secrets in an encrypted file", vaultCommands)
    .command("world", "Check and run user interface components", worldCommands)
    .command(
      "serve",
      "Serve this folder over HTTP",
      (serve) =>
        serve
          .option("port", { ...port, default: 3141 })
          .option("host", host)
          .option("adapter", adapter)
          .option("sandbox", sandbox),
      async (options) => (await import("#edge/cli/command/serve.ts")).serve(options),
    )
    .command(
      "acp",
      "Serve an editor over the Agent Client Protocol, on stdin and stdout",
      (acp) =>
        acp
          .option("model", { type: "string", describe: "model of new sessions, as provider/model" })
          .option("agent", { type: "string", describe: "agent of new sessions" })
          .option("allow", { ...repeated, describe: "allow permission[:pattern] in all sessions" })
          .option("deny", { ...repeated, describe: "deny permission[:pattern]" })
          .option("yes", { type: "boolean", describe: "answer every permission question with yes" })
          .option("adapter", adapter)
          .option("protocol", { type: "number", describe: "highest protocol version: 1, or 2 for the draft" })
          .option("sandbox", sandbox)
          .option("login", { type: "boolean", describe: "store an API key, in a terminal" }),
      async (options) => (await import("#edge/cli/command/acp.ts")).serveAcp(options),
    )
    .command("config", "Show the configuration", (config) =>
      config
        .command(
          "show",
          "Show the configuration of this folder and the origin of each value",
          (show) => show.option("format", format),
          async (options) => (await import("#edge/cli/command/config.ts")).showConfig(options),
        )
        .demandCommand(1, `Name a command: ${ownCommand} config show.`),
    )
    .command(
      "trust [folder]",
      "Review and trust a folder's own code, rules and MCP servers",
      (trust) =>
        trust
          .positional("folder", {
            type: "string",
            describe: "folder to trust, with its whole work tree (default: this one)",
          })
          .option("yes", { type: "boolean", describe: "trust all files as they are now, without questions" })
          .option("file", { ...repeated, describe: "review this file of the project too" })
          .option("remove", { type: "boolean", describe: "remove the trust" })
          .option("list", { type: "boolean", describe: "list trusted folders and files that need a review" })
          .conflicts("remove", "list"),
      async (options) => (await import("#edge/cli/command/trust.ts")).trust(options),
    )
    .command(
      "doctor",
      "Check the installation and say how to fix problems",
      (doctor) =>
        doctor
          .option("restore", {
            type: "boolean",
            describe: "restore quarantined records whose files can be read again",
          })
          .option("port", { ...port, default: 3141, describe: "port of the server to check" }),
      async (options) => (await import("#edge/cli/doctor/doctor.ts")).doctor(options),
    )
}

const adapter = {
  type: "string",
  requiresArg: true,
  describe: "TypeScript file whose default export wraps the agent",
} as const

const plain = {
  type: "boolean",
  describe: "print each line once and draw nothing again, for screen readers",
} as const

const words = { type: "string", array: true, describe: "the prompt" } as const

function provider(yargs: Argv<FolderOptions>) {
  return yargs.positional("provider", {
    type: "string",
    demandOption: true,
    describe: "provider id, such as anthropic",
  })
}
