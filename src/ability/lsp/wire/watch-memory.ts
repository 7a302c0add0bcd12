// Watches how much memory a server and its children use. On Linux only: elsewhere nothing says it without a process.
import { readFileSync } from "node:fs"

const pause = 2_000
const maxProcesses = 50

/** Returns a function that ends the watch. */
export function watchMemory(options: {
  pid: number | undefined
  /** Bytes. */
  limit: number
  onExceeded: (reason: string) => void
}): () => void {
  const { pid, limit, onExceeded } = options
  if (pid === undefined || process.platform !== "linux") return () => {}
  const timer = setInterval(() => {
    const used = memoryOf(pid)
    if (used > limit) onExceeded(`it used ${inMB(used)} MB of memory, more than ${inMB(limit)}`)
  }, pause).unref()
  return () => clearInterval(timer)
}

function memoryOf(first: number): number {
  const pids = [first]
  let total = 0
  for (const pid of pids)
    try {
      const [, kilobytes = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? []
      total += Number(kilobytes) * 1_024
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim()
      if (children && pids.length < maxProcesses) pids.push(...children.split(" ").map(Number))
    } catch {
      // It has ended.
    }
  return total
}

function inMB(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}
