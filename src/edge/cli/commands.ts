// Every command with its options. What a command does is loaded only when it runs, so that help and mistakes cost
// nothing.

import type { Argv } from "yargs"
import { mcpCommands } from "#edge/cli/mcp/mcp-commands.ts"
import { modelsCommands } from "#edge/cli/models/models-commands.ts"
import { host, port } from "#edge/cli/option/address-options.ts"
import { format } from "#edge/cli/option/format-option.ts"
import { positiveInteger, positiveNumber } from "#edge/cli/option/number-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { sessionCommands } from "#edge/cli/session/session-commands.ts"
import { skillCommands } from "#edge/cli/skill/skill-commands.ts"

/** All commands, on a yargs that has the shared options. */
export function addCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command(
      "run [message..]",
      "Do something in this folder and print the answer",
      (run) =>
        run
          .positional("message", { type: "string", array: true, describe: "what to do" })
          .option("model", { alias: "m", type: "string", describe: "model to use, as provider/model" })
          .option("agent", { type: "string", describe: "agent to run (see: vitamin agent list)" })
          .option("session", { type: "string", describe: "session to continue, by id or unique prefix" })
          .option("continue", {
            alias: "c",
            type: "boolean",
            describe: "continue the newest session of this work tree",
          })
          .conflicts("session", "continue")
          .option("mode", { choices: ["plan", "act"] as const, describe: "plan: nothing is changed" })
          .option("file", { ...repeated, describe: "attach a file, or lines of it: PATH[:FROM[-TO]]" })
          .option("image", { ...repeated, describe: "attach an image: a file or an address" })
          .option("prompt", {
            type: "string",
            requiresArg: true,
            describe: "what an MCP server offers to say: SERVER/NAME, then KEY=VALUE for its arguments",
          })
          .option("image-mode", {
            choices: ["vision", "ocr", "auto"] as const,
            describe: "show the images to the model, read their text here (OCR), or whichever works",
          })
          .implies("image-mode", "image")
          .option("refresh", {
            type: "boolean",
            describe: "first read again attached files that have changed, and try again what failed",
          })
          .option("allow", {
            ...repeated,
            describe: 'a rule that allows: permission[:pattern], such as "bash.execute:npm *"',
          })
          .option("deny", { ...repeated, describe: "a rule that denies" })
          .option("yes", { alias: "y", type: "boolean", describe: "answer every question with yes, once" })
          .option("format", { ...format, describe: "json: one event per line" })
          .option("max-steps", positiveInteger("--max-steps", "stop after this many turns of the model"))
          .option("max-cost", positiveNumber("--max-cost", "stop when this many US dollars are spent"))
          .option("timeout", positiveNumber("--timeout", "stop after this many seconds")),
      async ({ message = [], _: words, ...options }) =>
        (await import("#edge/cli/run/run.ts")).run({
          ...options,
          // What follows "--" is no positional argument to yargs.
          message: [...message, ...words.slice(1).map(String)],
        }),
    )
    .command("session", "Sessions of this project", sessionCommands)
    .command(
      "models [provider]",
      "Models that are known, with context, price and abilities",
      modelsCommands,
      async (options) => (await import("#edge/cli/models/models.ts")).listModels(options),
    )
    .command("agent", "Agents", (agent) =>
      agent
        .command(
          "list",
          "Who can do the work",
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).listAgents(options),
        )
        .command(
          "show <id>",
          "One agent: its words, tools and rights",
          (show) =>
            show
              .positional("id", { type: "string", demandOption: true, describe: "the agent" })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).showAgent(options),
        )
        .command(
          "route <request..>",
          "Who would be chosen for a request, and why",
          (route) =>
            route
              .positional("request", {
                type: "string",
                array: true,
                demandOption: true,
                describe: "what to do",
              })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/agent.ts")).routeAgent(options),
        )
        .demandCommand(1, "Say what to do: list, show or route."),
    )
    .command("permission", 'What was answered with "always"', (permission) =>
      permission
        .command(
          "list",
          "What is allowed for always in this project, for whom",
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/permission.ts")).listGrants(options),
        )
        .command(
          "remove [id..]",
          "Take it back",
          (remove) =>
            remove
              .positional("id", { type: "string", array: true, describe: "what to take back" })
              .option("all", { type: "boolean", describe: "everything in this project" }),
          async (options) => (await import("#edge/cli/command/permission.ts")).removeGrants(options),
        )
        .demandCommand(1, "Say what to do: list or remove."),
    )
    .command("tool", "Tools", (tool) =>
      tool
        .command(
          "list",
          "What a model can be given to work with",
          (list) => list.option("format", format),
          async (options) => (await import("#edge/cli/command/tool.ts")).listTools(options),
        )
        .command(
          "search <query..>",
          "Tools by what they do, those of MCP servers too",
          (search) =>
            search
              .positional("query", {
                type: "string",
                array: true,
                demandOption: true,
                describe: "what must be done",
              })
              .option("limit", { ...positiveInteger("--limit", "how many to show"), default: 10 })
              .option("format", format),
          async (options) => (await import("#edge/cli/command/tool.ts")).searchTools(options),
        )
        .demandCommand(1, "Say what to do: list or search."),
    )
    .command("skill", "Skills: instructions for one kind of work", skillCommands)
    .command("mcp", "MCP servers", mcpCommands)
    .command("auth", "Keys for providers", (auth) =>
      auth
        .command("login <provider>", "Keep a key", provider, async (options) =>
          (await import("#edge/cli/command/auth.ts")).login(options),
        )
        .command<FolderOptions>(
          "list",
          "Which providers have a key, and where from",
          (list) => list,
          async (options) => (await import("#edge/cli/command/auth.ts")).listLogins(options),
        )
        .command("logout <provider>", "Forget a key", provider, async (options) =>
          (await import("#edge/cli/command/auth.ts")).logout(options),
        )
        .demandCommand(1, "Say what to do: login, list or logout."),
    )
    .command(
      "serve",
      "Serve this folder over HTTP, for other programs",
      (serve) => serve.option("port", { ...port, default: 3141 }).option("host", host),
      async (options) => (await import("#edge/cli/command/serve.ts")).serve(options),
    )
    .command(
      "acp",
      "Work for an editor that speaks the Agent Client Protocol, on stdin and stdout",
      (acp) =>
        acp
          .option("model", { type: "string", describe: "provider/model of new sessions" })
          .option("agent", { type: "string", describe: "who works in new sessions" })
          .option("allow", { ...repeated, describe: "a rule that allows, for all sessions" })
          .option("deny", { ...repeated, describe: "a rule that denies" })
          .option("yes", { type: "boolean", describe: "allow once whatever would be asked" })
          .option("login", { type: "boolean", describe: "keep a key for a provider, in a terminal" }),
      async (options) => (await import("#edge/cli/command/acp.ts")).serveAcp(options),
    )
    .command("config", "The configuration", (config) =>
      config
        .command(
          "show",
          "The configuration of this folder, and where each value came from",
          (show) => show.option("format", format),
          async (options) => (await import("#edge/cli/command/config.ts")).showConfig(options),
        )
        .demandCommand(1, "Say what to do: vitamin config show."),
    )
    .command(
      "trust [folder]",
      "Review and trust a folder's own code, rules and servers (default: this one)",
      (trust) =>
        trust
          .positional("folder", { type: "string", describe: "the folder; its whole work tree is meant" })
          .option("yes", { type: "boolean", describe: "trust all as it is now, without questions" })
          .option("file", { ...repeated, describe: "another file of the project to review" })
          .option("remove", { type: "boolean", describe: "take trust back" })
          .option("list", { type: "boolean", describe: "show the trusted folders and what waits for review" })
          .conflicts("remove", "list"),
      async (options) => (await import("#edge/cli/command/trust.ts")).trust(options),
    )
    .command(
      "doctor",
      "What is installed, found, reachable, trusted, quarantined, and what to do about it",
      (doctor) =>
        doctor
          .option("restore", {
            type: "boolean",
            describe: "put back quarantined records whose files can be read again",
          })
          .option("port", { ...port, default: 3141, describe: "port of the server to look for" }),
      async (options) => (await import("#edge/cli/doctor/doctor.ts")).doctor(options),
    )
}

const repeated = { type: "string", array: true, nargs: 1, requiresArg: true } as const

function provider(yargs: Argv<FolderOptions>) {
  return yargs.positional("provider", { type: "string", demandOption: true, describe: "such as anthropic" })
}
