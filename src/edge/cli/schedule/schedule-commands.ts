// `vitamin schedule …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { database, format, positiveInteger, positiveNumber } from "#edge/cli/option/options.ts"
import { repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions, StoreOptions } from "#edge/cli/process/in-instance.ts"
import { ownCommand } from "#util/own-command.ts"

export function scheduleCommands(schedule: Argv<FolderOptions>) {
  return schedule
    .option("database", database)
    .command(
      "add <cron> <prompt>",
      "Run a prompt at the times of a cron expression",
      addOptions,
      async (options) => (await import("./schedule.ts")).addSchedule(options),
    )
    .command(
      "list",
      "List the schedules, when each runs next, and how its last run ended",
      (list) => list.option("format", format),
      async (options) => (await import("./schedule.ts")).listSchedules(options),
    )
    .command("pause <id>", "Let a schedule not run for now", scheduleId, async (options) =>
      (await import("./schedule.ts")).pauseSchedule(options),
    )
    .command("resume <id>", "Let a paused schedule run again", scheduleId, async (options) =>
      (await import("./schedule.ts")).resumeSchedule(options),
    )
    .command("remove <id>", "Remove a schedule; its sessions stay", scheduleId, async (options) =>
      (await import("./schedule.ts")).removeSchedule(options),
    )
    .demandCommand(1, "Name a command: add, list, pause, resume or remove.")
}

function addOptions(add: Argv<FolderOptions & StoreOptions>) {
  return add
    .positional("cron", {
      type: "string",
      demandOption: true,
      describe: 'minute, hour, day of the month, month, weekday: "0 7 * * 1" is Mondays at 7:00',
    })
    .positional("prompt", { type: "string", demandOption: true, describe: "what each run should do" })
    .option("timezone", {
      type: "string",
      requiresArg: true,
      default: "UTC",
      describe: "time zone of the cron expression, such as Europe/Berlin",
    })
    .option("directory", {
      type: "string",
      requiresArg: true,
      describe: "folder of the runs, or address of a project (default: this folder)",
    })
    .option("agent", { type: "string", describe: `agent to run (see: ${ownCommand} agent list)` })
    .option("model", { alias: "m", type: "string", describe: "model to use, as provider/model" })
    .option("mode", {
      choices: ["plan", "act"] as const,
      describe: "plan: read only; act: may change files",
    })
    .option("allow", {
      ...repeated,
      describe:
        'allow permission[:pattern], such as "bash.execute:npm *"; all else that needs a yes is denied',
    })
    .option("deny", { ...repeated, describe: "deny permission[:pattern]" })
    .option("max-steps", positiveInteger("--max-steps", "stop a run after this many turns of the model"))
    .option("max-cost", positiveNumber("--max-cost", "stop a run when this many US dollars are spent"))
    .option("timeout", positiveNumber("--timeout", "stop a run after this many seconds"))
}

function scheduleId(command: Argv<FolderOptions & StoreOptions>) {
  return command.positional("id", {
    type: "string",
    demandOption: true,
    describe: `id of the schedule (see: ${ownCommand} schedule list)`,
  })
}
