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
          .option("model", { type: "string", describe: "provider/model" }),
      async (options) => (await import("./run.ts")).run(options),
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
          .option("host", { type: "string", default: "127.0.0.1", describe: "the address to listen on" }),
      async (options) => (await import("./serve.ts")).serve(options),
    )
    .command("config", "The configuration", (config) =>
      config
        .command(
          "show",
          "The configuration of this folder, and where each value came from",
          (show) => show.option("format", { choices: ["text", "json"] as const, default: "text" as const }),
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

function portNumber(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new UsageError("--port takes a number from 0 to 65535")
}
