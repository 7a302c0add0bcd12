// The terminal that the program runs in: raw mode, the modes that are switched on and always off again, its size, and the
// answers to what is asked of it. Nothing captures the mouse, clears the screen or leaves the main one.
import { writeSync } from "node:fs"
import { forConsole, isConsole } from "./console.ts"
import { hasTitle } from "./detect.ts"

export type Terminal = Readonly<{
  /** The size now: asked anew, since a resize is reported late. */
  size(): { columns: number; rows: number }
  write(text: string): void
  /** Leave the modes, stop the program as Ctrl-Z does, and enter the modes when it continues. */
  suspend(): void
  /** Leave the modes for another program, such as an editor, until `fn` is over. */
  lend<T>(fn: () => Promise<T>): Promise<T>
  /** Switch on the keyboard protocol by which Shift-Enter is told from Enter. */
  useKeyProtocol(): void
  /** The title of the window, without control characters. The former one comes back when the modes are left. */
  setTitle(title: string): void
  close(): void
}>

type Handlers = {
  input(bytes: Buffer): void
  resize(): void
  /** The modes are on again, and the screen may show anything. */
  resumed(): void
}

/** Returns 0 and fills in columns and rows, or returns an error. */
type Handle = { getWindowSize?(size: [number, number]): number }

/** Bracketed paste and focus reports. */
const on = "\u001b[?2004h\u001b[?1004h"
const off = "\u001b[?2004l\u001b[?1004l"
/** Keys that would be ambiguous (1), with their place on a Latin keyboard (4): what the key reader understands. */
const keysOn = "\u001b[>5u"
const keysOff = "\u001b[<u"
const pushTitle = "\u001b[22;0t"
const popTitle = "\u001b[23;0t"
/** Styles off, cursor visible, synchronized output ended. */
const calm = "\u001b[?2026l\u001b[0m\u001b[?25h"
/** Milliseconds. Two of them without a stop: the kernel has dropped the signal. */
const stopCheck = 100

export function openTerminal(handlers: Handlers): Terminal {
  const { stdin, stdout } = process
  const titles = hasTitle()
  let title = ""
  let hasKeys = false
  let isLent = false
  let isOn = false
  let isClosed = false
  let stopped: NodeJS.Timeout | undefined

  function enter(): void {
    if (isOn || isClosed) return
    isOn = true
    stdin.setRawMode(true)
    stdin.resume()
    stdout.write((titles ? pushTitle + titleOf(title) : "") + on + (hasKeys ? keysOn : ""))
  }

  function leave(): void {
    if (!isOn) return
    switchOff()
    stdin.pause()
  }

  function switchOff(): void {
    isOn = false
    try {
      stdin.setRawMode(false)
    } catch {
      // The terminal is gone.
    }
    writeNow(calm + (hasKeys ? keysOff : "") + off + (titles ? popTitle : ""))
  }

  function close(): void {
    leave()
    clearInterval(stopped)
    isClosed = true
    stdin.off("data", handlers.input)
    stdout.off("resize", handlers.resize)
    process.off("SIGCONT", resume)
    process.off("exit", leave)
  }

  function resume(): void {
    clearInterval(stopped)
    // The other program was stopped together with this one, and has the terminal again.
    if (isLent) return
    // Another process has stopped this one, and the shell may have changed the modes.
    if (isOn) switchOff()
    enter()
    handlers.resumed()
  }

  /** Nothing stops a process whose group no shell controls: it goes on by itself. A process that was stopped may count one
   * check before SIGCONT is reported. */
  function resumeUnlessStopped(): void {
    let checks = 0
    stopped = setInterval(() => ++checks > 1 && resume(), stopCheck)
  }

  enter()
  stdin.on("data", handlers.input)
  stdout.on("resize", handlers.resize)
  process.on("SIGCONT", resume)
  process.on("exit", leave)
  return Object.freeze({
    size,
    write: (text: string) => void stdout.write(isConsole() ? forConsole(text) : text),
    suspend() {
      leave()
      resumeUnlessStopped()
      // The whole job: a program that started this one, such as npx, stops too.
      process.kill(0, "SIGTSTP")
    },
    async lend<T>(fn: () => Promise<T>): Promise<T> {
      leave()
      isLent = true
      try {
        return await fn()
      } finally {
        isLent = false
        enter()
        handlers.resumed()
      }
    },
    useKeyProtocol() {
      if (!hasKeys && isOn) stdout.write(keysOn)
      hasKeys = true
    },
    setTitle(next: string) {
      if (title === next) return
      title = next
      if (isOn && titles) stdout.write(titleOf(title))
    },
    close,
  })
}

/** Node itself asks only after the signal, which comes late while the program is busy: a frame would be of the old size. */
function size(): { columns: number; rows: number } {
  const { columns, rows, _handle: handle } = process.stdout as typeof process.stdout & { _handle?: Handle }
  const asked: [number, number] = [columns, rows]
  const isKnown = handle?.getWindowSize?.(asked) === 0
  const [width, height] = isKnown ? asked : [columns, rows]
  return { columns: width || 80, rows: height || 24 }
}

/** Synchronous: the process may end right after it. A terminal that is slow to read gets a moment. */
function writeNow(text: string): void {
  let rest = Buffer.from(text)
  for (let tries = 0; rest.length && tries < 20; tries++)
    try {
      rest = rest.subarray(writeSync(process.stdout.fd, rest))
    } catch (error) {
      // The terminal is gone.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
}

function titleOf(title: string): string {
  return title && `\u001b]2;${title}\u0007`
}
