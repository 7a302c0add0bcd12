// `vitamin world …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format, positiveNumber } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function worldCommands(world: Argv<FolderOptions>) {
  return world
    .command(
      "run [pattern..]",
      "Check user interfaces: static analysis, a judge, then stories in a real browser",
      (run) =>
        run
          .positional("pattern", {
            type: "string",
            array: true,
            describe: "story files by glob, or a component whose stories to run (default: all stories)",
          })
          .option("report", {
            type: "string",
            requiresArg: true,
            describe: "write an HTML file with pictures",
          })
          .option("judge", {
            type: "boolean",
            default: true,
            describe: "let a model score what passed the analysis; --no-judge skips it",
          })
          .option("model", {
            type: "string",
            requiresArg: true,
            describe: "model that judges, as provider/model",
          })
          .option("judge-timeout", {
            ...positiveNumber("--judge-timeout", "seconds to wait for an answer of the judge"),
            default: 60,
          })
          .option("watch", { type: "boolean", describe: "run stories again when their files change" })
          .option("format", format),
      async (options) => (await import("./world.ts")).runWorld(options),
    )
    .command(
      "analyze [glob]",
      "Check templates without running them",
      (analyze) =>
        analyze
          .positional("glob", {
            type: "string",
            describe:
              "files by glob, a folder, or one file (default: all HTML, CSS, and scripts with markup)",
          })
          .option("format", format),
      async (options) => (await import("./analyze.ts")).analyzeTemplates(options),
    )
    .demandCommand(1, "Name a command: run or analyze.")
}
