// Asks a person at the terminal, line by line. Text that was typed before the question was shown does not answer it.
import { createInterface } from "node:readline/promises"
import { Writable } from "node:stream"
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises"

/** Returns the line; undefined after Ctrl-D. `hidden`: what is typed is not shown. */
export type Ask = (text: string, options?: { hidden?: boolean }) => Promise<string | undefined>

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
    const screen = createScreen()
    const { output } = screen
    const terminal = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
    const ended = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)))
    terminal.on("SIGINT", () => interrupt())
    try {
      return await talk(async (text, { hidden = false } = {}) => {
        // Only the last line is redrawn while the person types. If that is hidden, nothing is redrawn.
        const start = hidden ? text.length : text.lastIndexOf("\n") + 1
        stderr.write(text.slice(0, start))
        screen.isHidden = hidden
        try {
          return await Promise.race([terminal.question(text.slice(start), { signal }), ended])
        } finally {
          screen.isHidden = false
          if (hidden) stderr.write("\n")
        }
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

/** What the line editor draws on: stderr, or nothing while the typed text is hidden. */
function createScreen() {
  const { stderr } = process
  const screen = { isHidden: false, output: new Writable({ write }) }
  Object.defineProperty(screen.output, "columns", { get: () => stderr.columns })

  function write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (!screen.isHidden) stderr.write(chunk)
    done()
  }

  return screen
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
