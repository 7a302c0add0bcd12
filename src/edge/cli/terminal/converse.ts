// Asks a person at the terminal, line by line. Text that was typed before the question was shown does not answer it.
import { createInterface } from "node:readline/promises"
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises"

/** Returns the line; undefined after Ctrl-D. */
export type Ask = (text: string) => Promise<string | undefined>

/** Input that can be read within this many milliseconds was typed ahead. */
const settling = 100

/** Returns undefined when `signal` is aborted: the answer is no longer needed. */
export async function converse<T>(
  signal: AbortSignal,
  talk: (ask: Ask) => Promise<T>,
): Promise<T | undefined> {
  const { stdin, stderr } = process
  stdin.ref()
  try {
    await dropTyped()
    if (signal.aborted) return undefined
    const terminal = createInterface({ input: stdin, output: stderr, terminal: true, historySize: 0 })
    const ended = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)))
    terminal.on("SIGINT", () => interrupt())
    try {
      return await talk((text) => {
        // Only the last line is redrawn while the person types.
        const start = text.lastIndexOf("\n") + 1
        stderr.write(text.slice(0, start))
        return Promise.race([terminal.question(text.slice(start), { signal }), ended])
      })
    } finally {
      terminal.close()
    }
  } catch (error) {
    if (!signal.aborted) throw error
    stderr.write("\n(no longer needed)\n")
    return undefined
  } finally {
    stdin.pause()
    stdin.unref()
  }
}

/** Drops input that was typed ahead. In raw mode that includes an unfinished line. */
async function dropTyped(): Promise<void> {
  const { stdin } = process
  const drop = (typed: Buffer) => {
    if (typed.includes(3)) interrupt()
  }
  stdin.setRawMode(true)
  stdin.on("data", drop)
  stdin.resume()
  await wait(settling)
  // On a busy machine the time may be up before anything was read.
  await turn()
  await turn()
  stdin.off("data", drop)
  stdin.pause()
  stdin.setRawMode(false)
}

/** Ctrl-C sends no signal in raw mode, so it is sent here. */
function interrupt(): void {
  process.kill(process.pid, "SIGINT")
}
