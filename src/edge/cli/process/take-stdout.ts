// Reserves stdout for the protocol: everything else that is written there, for example by code of the folder, goes to
// stderr.
import { Writable } from "node:stream"
import { exitCodes } from "./exit.ts"

/** The stream that still leads to stdout. `onGone` is called when its reader has gone. */
export function takeStdout(onGone: () => void): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // In other commands that ends the program at once; here processes may have to be ended first.
  stdout.removeAllListeners("error")
  stdout.on("error", onGone)
  // A failed write is reported by the event.
  return new Writable({ write: (chunk, _, done) => void write(chunk, () => done()) })
}

/** At the end: a client that does not read must not keep the process alive. */
export function leaveStdout(): void {
  if (process.stdout.writableLength > 0) process.exit(process.exitCode ?? exitCodes.done)
}
