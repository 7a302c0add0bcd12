// `vitamin skill …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function skillCommands(skill: Argv<FolderOptions>) {
  return skill
    .command(
      "list",
      "List the skills of this project and your own, with their problems",
      (list) => list.option("format", format),
      async (options) => (await import("./skill.ts")).listSkills(options),
    )
    .command(
      "show <name>",
      "Show a skill: instructions, scripts and references",
      (show) =>
        show
          .positional("name", { type: "string", demandOption: true, describe: "skill name" })
          .option("format", format),
      async (options) => (await import("./skill.ts")).showSkill(options),
    )
    .command(
      "validate [path]",
      "Check skills against the Agent Skills specification",
      (validate) =>
        validate
          .positional("path", {
            type: "string",
            describe: "skill or folder of skills (default: all)",
          })
          .option("format", format),
      async (options) => (await import("./skill.ts")).validateAll(options),
    )
    .demandCommand(1, "Name a command: list, show or validate.")
}
