// The commands that serve: over HTTP, in a browser, and for editors; and where servers keep their records. Their code is loaded only when they run.
import type { Argv } from "yargs"
import { database, host, port, sandbox } from "#edge/cli/option/options.ts"
import { repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

const adapter = {
  type: "string",
  requiresArg: true,
  describe: "TypeScript file whose default export wraps the agent",
} as const

const place = { type: "string", demandOption: true } as const

export function addServeCommands(yargs: Argv<FolderOptions>): Argv<FolderOptions> {
  return yargs
    .command(
      "serve",
      "Serve this folder over HTTP",
      (serve) =>
        serve
          .option("port", { ...port, default: 3141 })
          .option("host", host)
          .option("adapter", adapter)
          .option("database", database)
          .option("sandbox", sandbox),
      async (options) => (await import("./serve.ts")).serve(options),
    )
    .command("storage", "Move everything between files and a database", (storage) =>
      storage
        .command(
          "copy <from> <to>",
          "Copy all shared records, objects and schedules, and compare the records one by one; stop the servers first",
          (copy) =>
            copy
              .positional("from", {
                ...place,
                describe: "files, database (VITAMIN_DATABASE) or postgres://…",
              })
              .positional("to", { ...place, describe: "the same" })
              .option("overwrite", {
                type: "boolean",
                describe: "replace records and objects of the target that differ, and keep its others",
              }),
          async (options) => (await import("./storage.ts")).copyStorage(options),
        )
        .demandCommand(1, "Name a command: copy."),
    )
    .command(
      "web",
      "Open the page of the server in a browser, and start the server if none runs",
      (web) =>
        web
          .option("port", { ...port, default: 3141 })
          .option("open", {
            type: "boolean",
            default: true,
            describe: "open a browser; --no-open only prints the address",
          })
          .option("person", {
            type: "string",
            requiresArg: true,
            describe: "only print an address with which this person signs in, on a server that runs",
          })
          .option("sandbox", sandbox),
      async (options) => (await import("./web.ts")).web(options),
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
      async (options) => (await import("./acp.ts")).serveAcp(options),
    )
}
