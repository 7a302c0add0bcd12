// Nothing but the protocol goes to stdout: whatever else is written there, by code of the folder for one, goes to stderr
// from now on.
import { Writable } from "node:stream"
import { exitCodes } from "./exit.ts"

/** What still leads to stdout. `onGone` is called when nobody reads there any more. */
export function takeStdout(onGone: () => void): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // Elsewhere that ends the program at once; here there may be processes to end before.
  stdout.removeAllListeners("error")
  stdout.on("error", onGone)
  // That a write failed is told by the event.
  return new Writable({ write: (chunk, _, done) => void write(chunk, () => done()) })
}

/** At the end: what a client does not read must not keep us here. */
export function leaveStdout(): void {
  if (process.stdout.writableLength > 0) process.exit(process.exitCode ?? exitCodes.done)
}
