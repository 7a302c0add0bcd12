// `vitamin guard …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import { repeated } from "#edge/cli/option/prompt-options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

export function guardCommands(guard: Argv<FolderOptions>) {
  return guard
    .command(
      "check",
      "Explore what the guards can do together, and report deadlocks, contradictions and guards that block nothing",
      (check) =>
        check
          .option("require", { ...repeated, describe: "action that must stay possible (default: answer)" })
          .option("format", format),
      async (options) => (await import("./guard-check.ts")).checkConfigured(options),
    )
    .command(
      "explain [session]",
      "Show what guards blocked in a session, when and why",
      (explain) => explain.positional("session", session).option("svg", svg).option("format", format),
      async (options) => (await import("./guard-explain.ts")).explainSession(options),
    )
    .command(
      "simulate [session]",
      "Show what other guards would have blocked in a session",
      (simulate) =>
        simulate
          .positional("session", session)
          .option("guards", {
            type: "string",
            requiresArg: true,
            describe: "JSONC file with guards (default: the configured ones)",
          })
          .option("svg", svg)
          .option("format", format),
      async (options) => (await import("./guard-explain.ts")).simulateSession(options),
    )
    .demandCommand(1, "Name a command: check, explain or simulate.")
}

const session = { type: "string", describe: "id or unique prefix (default: the newest session)" } as const
const svg = { type: "string", requiresArg: true, describe: "also draw a timeline into this file" } as const
