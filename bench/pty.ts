// A program on a pseudo-terminal of `script`: what it writes, keys for it, and what its process has used.
import { type ChildProcess, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export type Pty = ReturnType<typeof openPty>
export type Place = { root: string; folder: string; env: Record<string, string | undefined> }

const sequence = /\u001b\[[\d;:?<>=]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()][\w]/g
const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
let count = 0

export function openPty(args: readonly string[], { root, folder, env }: Place) {
  const [pidFile, timesFile] = [join(root, `pid-${++count}`), join(root, `times-${count}`)]
  const own = `echo $$ > ${quoted(pidFile)}; exec ${args.map(quoted).join(" ")}`
  const line = `unset CI NO_COLOR FORCE_COLOR TMUX; stty cols 120 rows 40; sh -c ${quoted(own)}; times > ${quoted(timesFile)}`
  const started = performance.now()
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd: folder,
    env: { ...env, TERM: "xterm-256color", COLORTERM: "truecolor" },
    stdio: ["pipe", "pipe", "inherit"],
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  let text = ""
  let bytes = 0
  let seen = () => {}
  child.stdout!.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    text += chunk.toString("latin1")
    answer(child, chunk)
    seen()
  })

  /** Resolves when something new was written, or the program has ended. */
  function more(): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => (seen = resolve)), ended])
  }

  /** Milliseconds since the start when `fits` was true for the text behind `from`, without control sequences. */
  async function until(fits: (text: string) => boolean, from = 0): Promise<number> {
    const limit = setTimeout(() => child.kill(), 120_000)
    try {
      for (;;) {
        if (fits(text.slice(from).replace(sequence, ""))) return performance.now() - started
        if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended:\n${text.slice(-2_000)}`)
        await more()
      }
    } finally {
      clearTimeout(limit)
    }
  }

  return Object.freeze({
    until,
    ended,
    type: (keys: string) => void child.stdin!.write(keys),
    length: () => text.length,
    bytes: () => bytes,
    raw: (from = 0) => text.slice(from),
    status: () => readFileSync(`/proc/${pid()}/status`, "utf8"),
    /** Voluntary context switches of all threads. */
    switches() {
      const tasks = `/proc/${pid()}/task`
      const statuses = readdirSync(tasks).map((id) => readFileSync(join(tasks, id, "status"), "utf8"))
      return statuses.reduce((sum, status) => sum + field(status, "voluntary_ctxt_switches"), 0)
    },
    /** In MB. */
    memory() {
      const status = readFileSync(`/proc/${pid()}/status`, "utf8")
      return { now: field(status, "VmRSS") / 1024, peak: field(status, "VmHWM") / 1024 }
    },
    /** Processor time so far, in milliseconds. */
    processor() {
      const fields = readFileSync(`/proc/${pid()}/stat`, "utf8").split(") ")[1]!.split(" ")
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    /** Ends the program; milliseconds of processor time, its children included. */
    async end(signal: NodeJS.Signals = "SIGKILL") {
      try {
        process.kill(pid(), signal)
      } catch {
        // It has ended by itself.
      }
      await ended
      return childTimes(readFileSync(timesFile, "utf8"))
    },
  })

  function pid(): number {
    return Number(readFileSync(pidFile, "utf8"))
  }
}

/** What a terminal says when it is asked: its cursor, its kind, its background. */
function answer({ stdin }: ChildProcess, chunk: Buffer): void {
  const asked = chunk.toString("latin1")
  if (asked.includes("\u001b[6n")) stdin!.write("\u001b[1;1R")
  if (asked.includes("\u001b]11;?")) stdin!.write("\u001b]11;rgb:0000/0000/0000\u001b\\")
  if (asked.includes("\u001b[c")) stdin!.write("\u001b[?62;22c")
}

/** The second line of `times`: user and system time of the children. */
function childTimes(text: string): number {
  const times = text
    .trim()
    .split("\n")[1]!
    .matchAll(/(\d+)m([\d.]+)s/g)
  return [...times].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  )
}

function field(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN)
}
