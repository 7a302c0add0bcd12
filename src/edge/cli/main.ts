// The command line: the one place where an error becomes a line on stderr and an exit code. Nothing else reads argv.

import { sharedOptions, takeShared } from "#edge/cli/option/options.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { addCommands } from "./commands.ts"
import { withDefaultCommand } from "./default-command.ts"
import { readPlainLine } from "./plain-line.ts"

/** Run one command line; returns the exit code. */
export async function main(args: string[]): Promise<number> {
  process.stdout.on("error", leaveQuietly)
  // The reader of the log has gone; the command continues.
  process.stderr.on("error", () => {})
  try {
    await runLine(withDefaultCommand(args))
    return Number(process.exitCode ?? exitCodes.done)
  } catch (error) {
    const text = `vitamin: ${Secret.redact(Log.escapeControls(errorText(error)).replaceAll("\\u000a", "\n"))}`
    process.stderr.write(
      `${process.stderr.isTTY ? (await import("#edge/cli/terminal/wrap-text.ts")).wrapLines(text) : text}\n`,
    )
    if (Log.enabled("debug") && error instanceof Error)
      process.stderr.write(`${Secret.redact(error.stack ?? "")}\n`)
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  }
}

async function runLine(args: string[]): Promise<void> {
  const plain = readPlainLine(args, sharedOptions, addCommands)
  if (!plain) return (await import("./any-line.ts")).runAnyLine(args)
  await takeShared(plain.options)
  await plain.handler(plain.options)
}

/** The reader of our output has gone (`vitamin config show | head`). */
function leaveQuietly(error: NodeJS.ErrnoException) {
  if (error.code !== "EPIPE") throw error
  process.exit(exitCodes.done)
}
