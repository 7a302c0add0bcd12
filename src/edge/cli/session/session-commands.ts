// `vitamin session …` with its options. What a command does is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/format-option.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

const named = "session, by id or unique prefix (default: the newest of this work tree)"

export function sessionCommands(session: Argv<FolderOptions>) {
  return session
    .command(
      "list",
      "All of them, the one used last first",
      (list) =>
        list
          .option("tasks", { type: "boolean", describe: "those that do a task for another one too" })
          .option("format", format),
      async (options) => (await import("./session.ts")).listSessions(options),
    )
    .command(
      "show [id]",
      "What was said and done",
      (show) =>
        one(show)
          .option("all", {
            type: "boolean",
            describe: "every message: of all branches, and from before a compaction",
          })
          .option("format", format),
      async (options) => (await import("./session.ts")).showSession(options),
    )
    .command(
      "fork [id]",
      "A new session with the messages up to one",
      (fork) => one(fork).option("message", { type: "string", describe: "the last message to take along" }),
      async (options) => (await import("./session.ts")).forkSession(options),
    )
    .command(
      "export [id]",
      "Print a session",
      (exported) =>
        one(exported).option("format", {
          choices: ["json", "markdown"] as const,
          default: "json" as const,
          describe: "json can be imported again",
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
    .command(
      "mode <id> [mode]",
      "Plan (nothing is changed) or act, from the next prompt on",
      (moded) =>
        moded
          .positional("id", { type: "string", demandOption: true, describe: `${named}; or the mode` })
          .positional("mode", { choices: ["plan", "act"] as const, describe: "plan: nothing is changed" }),
      async (options) => (await import("./session.ts")).setSessionMode(options),
    )
    .command(
      "compact [id]",
      "Have the model be sent a summary in place of the older messages",
      one,
      async (options) => (await import("./session.ts")).compactSession(options),
    )
    .command(
      "branch [id] [name]",
      "List the branches, or make one and switch to it, or switch to one that is there",
      (branched) =>
        one(branched)
          .positional("name", { type: "string", describe: "branch to make or to switch to" })
          .option("from", {
            type: "string",
            describe: "the message to make a new one at (default: the last one)",
          })
          .option("format", format),
      async (options) => (await import("./session-branch.ts")).branchSession(options),
    )
    .command(
      "diff [id]",
      "What a session changed in the files",
      (diff) =>
        one(diff)
          .option("since", { type: "string", describe: "only from this message on" })
          .option("stat", { type: "boolean", describe: "only how much in which file" }),
      async (options) => (await import("./session-undo.ts")).diffSession(options),
    )
    .command(
      "plan [id]",
      "The plan of a session, how far it is, and what was changed for it",
      (plan) => one(plan).option("format", format),
      async (options) => (await import("./session-plan.ts")).showPlan(options),
    )
    .command(
      "revert [id]",
      "Undo what a session did, in the files and in the conversation",
      (revert) =>
        one(revert)
          .option("to", {
            type: "string",
            describe: "the first message to undo (default: the last prompt)",
          })
          .option("preview", { type: "boolean", describe: "only say what would be done" })
          .option("force", { type: "boolean", describe: "also what somebody else changed since" }),
      async (options) => (await import("./session-undo.ts")).revertSession(options),
    )
    .command(
      "remove <id>",
      "Remove a session and its messages",
      (removed) =>
        removed.positional("id", { type: "string", demandOption: true, describe: "id or unique prefix" }),
      async (options) => (await import("./session.ts")).removeSession(options),
    )
    .demandCommand(
      1,
      "Say what to do: list, show, plan, diff, fork, branch, mode, compact, export, import, revert or remove.",
    )
}

function one(yargs: Argv<FolderOptions>) {
  return yargs.positional("id", { type: "string", describe: named })
}
