// Reads piped input. A pipe that is silent for three seconds is ignored.
import { fstatSync } from "node:fs"

const firstByteTimeout = 3_000
const limit = 10 << 20

/** The piped text, or "" if nothing is piped. */
export async function readStdin(): Promise<string> {
  if (!isPiped()) return ""
  const chunks: Buffer[] = []
  let size = 0
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, firstByteTimeout)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    process.stdin.on("data", (chunk: Buffer) => {
      clearTimeout(timer)
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
    })
    process.stdin.on("end", done)
    process.stdin.on("error", done)
  })
  process.stdin.pause()
  process.stdin.unref?.()
  return Buffer.concat(chunks).toString("utf8").trim()
}

function isPiped(): boolean {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    return false
  }
}
