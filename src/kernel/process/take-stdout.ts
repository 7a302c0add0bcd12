// Reserves stdout for a protocol: everything else that is written there, for example by code of the folder, goes to
// stderr.
import { Writable } from "node:stream"

/** Returns the only stream that still writes to stdout. `onGone` is called when the reader of stdout has gone. */
export function takeStdout(onGone: () => void): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // Other commands exit at once when the reader has gone; here child processes must be stopped first.
  stdout.removeAllListeners("error")
  stdout.on("error", onGone)
  // A failed write is reported by the event "error".
  return new Writable({ write: (chunk, _, done) => void write(chunk, () => done()) })
}
