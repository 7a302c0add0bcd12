// Every command with its options. What a command does is loaded only when it runs, so that help and mistakes cost
// nothing.
import type { Argv } from "yargs"
import { UsageError } from "./exit.ts"
import type { FolderOptions } from "./in-instance.ts"

/** All commands, on a yargs that has the shared options. */
export function addCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command(
      "run [message..]",
      "Do something in this folder and print the answer",
      (run) =>
        run
          .positional("message", { type: "string", array: true, describe: "what to do" })
          .option("model", { type: "string", describe: "provider/model" })
          .option("agent", { type: "string", describe: "who does it" })
          .option("session", { type: "string", describe: "go on with a session" })
          .option("continue", { type: "boolean", describe: "go on with the session used last" })
          .conflicts("session", "continue")
          .option("format", { ...format, describe: "json: one event per line" })
          .option("max-steps", { type: "number", describe: "at most so many turns of the model" })
          .option("max-cost", { type: "number", describe: "at most so many US dollars" })
          .option("timeout", { type: "number", describe: "at most so many seconds" }),
      async (options) => (await import("./run.ts")).run(options),
    )
    .command("session", "Sessions of this project", (session) =>
      session
        .command(
          "list",
          "All of them, the one used last first",
          (list) => list.option("format", format),
          async (options) => (await import("./session.ts")).listSessions(options),
        )
        .command(
          "show <id>",
          "What was said and done",
          (show) =>
            one(show)
              .option("all", { type: "boolean", describe: "the messages of every branch" })
              .option("format", format),
          async (options) => (await import("./session.ts")).showSession(options),
        )
        .command(
          "fork <id>",
          "A new session with the messages up to one",
          (fork) =>
            one(fork).option("message", { type: "string", describe: "the last message to take along" }),
          async (options) => (await import("./session.ts")).forkSession(options),
        )
        .command(
          "export <id>",
          "Print a session",
          (exported) =>
            one(exported).option("format", {
              choices: ["json", "markdown"] as const,
              default: "json" as const,
            }),
          async (options) => (await import("./session.ts")).exportSession(options),
        )
        .command(
          "import <file>",
          "Take an exported session in",
          (imported) =>
            imported.positional("file", {
              type: "string",
              demandOption: true,
              describe: "- reads from stdin",
            }),
          async (options) => (await import("./session.ts")).importSession(options),
        )
        .command("remove <id>", "Remove a session and its messages", one, async (options) =>
          (await import("./session.ts")).removeSession(options),
        )
        .demandCommand(1, "Say what to do: list, show, fork, export, import or remove."),
    )
    .command(
      "models [provider]",
      "Models that are known, with context, price and abilities",
      (models) =>
        models
          .positional("provider", { type: "string", describe: "of one provider" })
          .option("refresh", { type: "boolean", describe: "fetch the newest facts first" })
          .option("from", { type: "string", describe: "the list to fetch, as models.dev gives it" })
          .implies("from", "refresh")
          .option("format", format),
      async (options) => (await import("./models.ts")).listModels(options),
    )
    .command("tool", "Tools", (tool) =>
      tool
        .command(
          "list",
          "What a model can be given to work with",
          (list) => list.option("format", format),
          async (options) => (await import("./tool.ts")).listTools(options),
        )
        .demandCommand(1, "Say what to do: vitamin tool list."),
    )
    .command("auth", "Keys for providers", (auth) =>
      auth
        .command("login <provider>", "Keep a key", provider, async (options) =>
          (await import("./auth.ts")).login(options),
        )
        .command<FolderOptions>(
          "list",
          "Which providers have a key, and where from",
          (list) => list,
          async (options) => (await import("./auth.ts")).listLogins(options),
        )
        .command("logout <provider>", "Forget a key", provider, async (options) =>
          (await import("./auth.ts")).logout(options),
        )
        .demandCommand(1, "Say what to do: login, list or logout."),
    )
    .command(
      "serve",
      "Serve this folder over HTTP, for editors and programs",
      (serve) =>
        serve
          .option("port", {
            type: "number",
            default: 3141,
            coerce: portNumber,
            describe: "0 takes any free port",
          })
          .option("host", {
            type: "string",
            default: "127.0.0.1",
            coerce: hostName,
            describe: "the address to listen on",
          }),
      async (options) => (await import("./serve.ts")).serve(options),
    )
    .command("config", "The configuration", (config) =>
      config
        .command(
          "show",
          "The configuration of this folder, and where each value came from",
          (show) => show.option("format", format),
          async (options) => (await import("./config.ts")).showConfig(options),
        )
        .demandCommand(1, "Say what to do: vitamin config show."),
    )
    .command(
      "trust [folder]",
      "Trust a folder's own code, rules and servers (default: this one)",
      (trust) =>
        trust
          .positional("folder", { type: "string", describe: "the folder; its whole work tree is meant" })
          .option("remove", { type: "boolean", describe: "take trust back" })
          .option("list", { type: "boolean", describe: "show the trusted folders" })
          .conflicts("remove", "list"),
      async (options) => (await import("./trust.ts")).trust(options),
    )
    .command<FolderOptions>(
      "doctor",
      "What is installed, found, reachable, trusted, and what to do about it",
      (doctor) => doctor,
      async (options) => (await import("./doctor.ts")).doctor(options),
    )
}

const format = { choices: ["text", "json"] as const, default: "text" as const, describe: "output form" }

function one(yargs: Argv<FolderOptions>) {
  return yargs.positional("id", { type: "string", demandOption: true, describe: "the session" })
}

function provider(yargs: Argv<FolderOptions>) {
  return yargs.positional("provider", { type: "string", demandOption: true, describe: "such as anthropic" })
}

function hostName(host: unknown): string {
  if (typeof host === "string" && host.trim() !== "") return host.trim()
  throw new UsageError("--host takes one address, such as 127.0.0.1")
}

function portNumber(port: unknown): number {
  if (typeof port === "number" && Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UsageError("--port takes a number from 0 to 65535")
}
