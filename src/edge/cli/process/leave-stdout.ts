// The end of a command whose stdout carries a protocol.
import { exitCodes } from "./exit.ts"

/** Exits if output is still unread: a client that does not read must not keep the process alive. */
export function leaveStdout(): void {
  if (process.stdout.writableLength > 0) process.exit(process.exitCode ?? exitCodes.done)
}
