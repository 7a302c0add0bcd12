// `vitamin script …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function scriptCommands(script: Argv<FolderOptions>) {
  return script
    .command(
      "list",
      "List the promoted scripts of this project",
      (list) => list.option("format", format),
      async (options) => (await import("./script.ts")).listScripts(options),
    )
    .command("show <name>", "Show the code of a script", name, async (options) =>
      (await import("./script.ts")).showScript(options),
    )
    .command(
      "promote <file>",
      "Review a file and keep it as a script that agents may run",
      (promote) =>
        promote
          .positional("file", { type: "string", demandOption: true, describe: "file with the code" })
          .option("name", { type: "string", describe: "name of the script (default: that of the file)" })
          .option("description", {
            type: "string",
            describe: "what it does, for agents (default: the comment that the file begins with)",
          })
          .option("yes", { type: "boolean", describe: "keep it without a question" }),
      async (options) => (await import("./script.ts")).promoteScript(options),
    )
    .command(
      "review [name..]",
      "Review scripts that are new, changed or expired",
      (review) =>
        review
          .positional("name", { type: "string", array: true, describe: "scripts to review (default: all)" })
          .option("yes", { type: "boolean", describe: "accept them as they are, without questions" }),
      async (options) => (await import("./script.ts")).reviewScripts(options),
    )
    .command(
      "run <name> [args..]",
      "Run a script; its own options follow --",
      (run) =>
        name(run).positional("args", { type: "string", array: true, describe: "arguments of the script" }),
      async ({ args = [], _: words, ...options }) =>
        (await import("./script.ts")).runScript({
          ...options,
          // yargs does not count words after "--" as positional arguments.
          args: [...args, ...words.slice(2).map(String)],
        }),
    )
    .command("remove <name>", "Remove a script", name, async (options) =>
      (await import("./script.ts")).removeScript(options),
    )
    .demandCommand(1, "Name a command: list, show, promote, review, run or remove.")
}

function name(command: Argv<FolderOptions>) {
  return command.positional("name", { type: "string", demandOption: true, describe: "name of the script" })
}
