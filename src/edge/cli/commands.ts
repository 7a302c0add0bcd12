// All commands with their options. The code of a command is loaded only when it runs, so that help and errors are
// fast.

import type { Argv } from "yargs"
import { a2aCommands } from "#edge/cli/a2a/a2a-commands.ts"
import { agentCommands } from "#edge/cli/command/agent-commands.ts"
import { commandCommands } from "#edge/cli/command/command-commands.ts"
import { addServeCommands } from "#edge/cli/command/serve-commands.ts"
import { vaultCommands } from "#edge/cli/command/vault-commands.ts"
import { guardCommands } from "#edge/cli/guard/guard-commands.ts"
import { hookCommands } from "#edge/cli/hook/hook-commands.ts"
import { mcpCommands } from "#edge/cli/mcp/mcp-commands.ts"
import { modelsCommands } from "#edge/cli/models/models-commands.ts"
import { database, format, port, positiveInteger } from "#edge/cli/option/options.ts"
import { promptOptions, repeated } from "#edge/cli/option/prompt-options.ts"
import { addPeopleCommands } from "#edge/cli/people/people-commands.ts"
import { pluginCommands } from "#edge/cli/plugin/plugin-commands.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { addProjectCommands } from "#edge/cli/project/project-commands.ts"
import { scheduleCommands } from "#edge/cli/schedule/schedule-commands.ts"
import { scriptCommands } from "#edge/cli/script/script-commands.ts"
import { sessionCommands } from "#edge/cli/session/session-commands.ts"
import { skillCommands } from "#edge/cli/skill/skill-commands.ts"
import { worldCommands } from "#edge/cli/world/world-commands.ts"
import { ownCommand } from "#util/own-command.ts"

/** All commands, on a yargs that has the shared options. */
export function addCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  const working = yargs
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
          .option("output-schema", {
            type: "string",
            requiresArg: true,
            describe: "JSON Schema file; print the answer as JSON that fits it (see docs/ci.md)",
          })
          .option("format", { ...format, describe: "json: one event per line (see docs/ci.md)" }),
      async ({ message = [], _: words, ...options }) => {
        const run = async () =>
          (await import("#edge/cli/run/run.ts")).run({
            ...options,
            // yargs does not count words after "--" as positional arguments.
            message: [...message, ...words.slice(1).map(String)],
          })
        if (!options.sandbox) return run()
        return (await import("#edge/cli/run/run-sandboxed.ts")).runSandboxed(options, run)
      },
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
      "stats",
      "Show tokens, money and tool calls by day, model, agent and tool",
      (stats) =>
        stats
          .option("all", { type: "boolean", describe: "of all folders of this machine" })
          .option("days", positiveInteger("--days", "of so many days, today included (default: 30)"))
          .option("since", { type: "string", requiresArg: true, describe: "from this day on: YYYY-MM-DD" })
          .option("format", {
            choices: ["text", "json", "csv"] as const,
            default: "text" as const,
            describe: "output format",
          }),
      async (options) => (await import("#edge/cli/command/stats.ts")).showStats(options),
    )
    .command(
      "models [provider]",
      "List models with context size, price and features",
      modelsCommands,
      async (options) => (await import("#edge/cli/models/models.ts")).listModels(options),
    )
    .command("agent", "List agents and how a request is routed", agentCommands)
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
    .command("command", "List and show commands: prompts that are called by /name", commandCommands)
    .command("hook", "List the hooks of this project", hookCommands)
    .command("plugin", "Install plugins: commands, agents, skills, hooks and servers", pluginCommands)
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
  return addProjectCommands(addPeopleCommands(addServeCommands(working)))
    .command("schedule", "Run prompts at fixed times, on servers with a database", scheduleCommands)
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
    .command<FolderOptions>(
      "upgrade",
      "Print the command that upgrades this installation",
      (upgrade) => upgrade,
      async () => (await import("#edge/cli/command/upgrade.ts")).showUpgrade(),
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
          .option("port", { ...port, default: 3141, describe: "port of the server to check" })
          .option("database", database),
      async (options) => (await import("#edge/cli/doctor/doctor.ts")).doctor(options),
    )
}

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
