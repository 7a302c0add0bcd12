// `vitamin session …` with its options. The code of a command is loaded only when it runs.
import type { Argv } from "yargs"
import { format } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"

const named = "session, by id or unique prefix (default: the newest of this work tree)"

export function sessionCommands(session: Argv<FolderOptions>) {
  return session
    .command(
      "list",
      "List sessions, the last used first",
      (list) =>
        list
          .option("tasks", { type: "boolean", describe: "include sessions of tasks" })
          .option("limit", {
            type: "number",
            requiresArg: true,
            describe: "how many, the last used first (default: 50, and all with --format json)",
          })
          .option("all", { type: "boolean", describe: "all of them" })
          .conflicts("all", "limit")
          .option("format", format),
      async (options) => (await import("./session.ts")).listSessions(options),
    )
    .command(
      "show [id]",
      "Show a session",
      (show) =>
        one(show)
          .option("all", {
            type: "boolean",
            describe: "show messages of all branches, and those before a compaction",
          })
          .option("format", format),
      async (options) => (await import("./session.ts")).showSession(options),
    )
    .command(
      "fork [id]",
      "Copy a session, up to a message, into a new one",
      (fork) =>
        one(fork).option("message", {
          type: "string",
          describe: "last message to copy (default: all messages)",
        }),
      async (options) => (await import("./session.ts")).forkSession(options),
    )
    .command(
      "export [id]",
      "Export a session to stdout",
      (exported) =>
        one(exported).option("format", {
          choices: ["json", "markdown"] as const,
          default: "json" as const,
          describe: "json: can be imported; markdown: for reading",
        }),
      async (options) => (await import("./session.ts")).exportSession(options),
    )
    .command(
      "import <file>",
      "Import an exported session",
      (imported) =>
        imported.positional("file", {
          type: "string",
          demandOption: true,
          describe: "file to import; - reads stdin",
        }),
      async (options) => (await import("./session.ts")).importSession(options),
    )
    .command(
      "mode <id> [mode]",
      "Show or set the mode from the next prompt on: plan (read only) or act",
      (moded) =>
        moded
          .positional("id", { type: "string", demandOption: true, describe: `${named}; or the mode` })
          .positional("mode", {
            choices: ["plan", "act"] as const,
            describe: "plan: read only; act: may change files",
          }),
      async (options) => (await import("./session.ts")).setSessionMode(options),
    )
    .command(
      "compact [id]",
      "Replace older messages by a summary in what the model sees",
      one,
      async (options) => (await import("./session.ts")).compactSession(options),
    )
    .command(
      "branch [id] [name]",
      "List branches, or create a branch or switch to it",
      (branched) =>
        one(branched)
          .positional("name", { type: "string", describe: "branch to create or to switch to" })
          .option("from", {
            type: "string",
            describe: "message at which a new branch begins (default: the last one)",
          })
          .option("format", format),
      async (options) => (await import("./session-branch.ts")).branchSession(options),
    )
    .command(
      "diff [id]",
      "Show the files that a session changed",
      (diff) =>
        one(diff)
          .option("since", { type: "string", describe: "only changes since this message" })
          .option("stat", { type: "boolean", describe: "only count changed lines per file" }),
      async (options) => (await import("./session-undo.ts")).diffSession(options),
    )
    .command(
      "plan [id]",
      "Show the plan of a session, its progress and the files changed for it",
      (plan) => one(plan).option("format", format),
      async (options) => (await import("./session-plan.ts")).showPlan(options),
    )
    .command(
      "revert [id]",
      "Undo the changes of a session, in the files and in the conversation",
      (revert) =>
        one(revert)
          .option("to", {
            type: "string",
            describe: "first message to undo (default: the last prompt)",
          })
          .option("preview", { type: "boolean", describe: "only show what would change" })
          .option("force", {
            type: "boolean",
            describe: "also revert files that somebody else changed since",
          }),
      async (options) => (await import("./session-undo.ts")).revertSession(options),
    )
    .command(
      "redo [id]",
      "Redo what the last revert undid, unless a prompt followed it",
      (redo) =>
        one(redo)
          .option("preview", { type: "boolean", describe: "only show what would change" })
          .option("force", {
            type: "boolean",
            describe: "also change files that somebody else changed since",
          }),
      async (options) => (await import("./session-undo.ts")).redoSession(options),
    )
    .command(
      "push <id>",
      "Push what a session made to a branch of its project, or write a patch",
      (pushed) =>
        pushed
          .positional("id", { type: "string", demandOption: true, describe: "id or unique prefix" })
          .option("branch", {
            type: "string",
            requiresArg: true,
            describe: "branch to push to, never by force (default: vitamin/SESSION)",
          })
          .option("patch", {
            type: "string",
            requiresArg: true,
            describe: "write a patch to this file; - is stdout",
          })
          .option("default-branch", { type: "boolean", describe: "allow the default branch" }),
      async (options) => (await import("./session-push.ts")).pushSession(options),
    )
    .command(
      "share <id> <name>",
      "Let another person of the server see a session, or prompt it too",
      (shared) =>
        shared
          .positional("id", { type: "string", demandOption: true, describe: "id or unique prefix" })
          .positional("name", { type: "string", demandOption: true, describe: "name of the person" })
          .option("role", {
            choices: ["reader", "member"] as const,
            default: "reader" as const,
            describe: "reader: looks; member: prompts and answers too",
          })
          .option("remove", { type: "boolean", describe: "end it" }),
      async (options) => (await import("./session.ts")).shareSession(options),
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
      "Name a command: list, show, plan, diff, fork, branch, mode, compact, export, import, push, share, revert, redo or remove.",
    )
}

function one(yargs: Argv<FolderOptions>) {
  return yargs.positional("id", { type: "string", describe: named })
}
