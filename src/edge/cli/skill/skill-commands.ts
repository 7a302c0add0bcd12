// `vitamin skill …` with its options. What a command does is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/format-option.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function skillCommands(skill: Argv<FolderOptions>) {
  return skill
    .command(
      "list",
      "Those of this project and your own, and what is wrong with any",
      (list) => list.option("format", format),
      async (options) => (await import("./skill.ts")).listSkills(options),
    )
    .command(
      "show <name>",
      "One skill: its instructions, scripts and references",
      (show) =>
        show
          .positional("name", { type: "string", demandOption: true, describe: "the skill" })
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
            describe: "a skill, or a folder of skills; all where it is left out",
          })
          .option("format", format),
      async (options) => (await import("./skill.ts")).validateAll(options),
    )
    .demandCommand(1, "Say what to do: list, show or validate.")
}
