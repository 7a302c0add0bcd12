// The process of one sandbox: started through the boundary of the operating system, with a pipe to it.
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { type Boundary, forNode, type Policy, startBoundary } from "#ability/sandbox/sandbox.ts"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import { guestVariable } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import { createGuest, denyUrl, type Guest } from "./create-guest.ts"

const inside = "/tmp/vitamin"
const tailSize = 2_000
const mostReported = 50

/** The guest's code lies beside this file: built, or in the source tree. */
const code = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../guest/guest.ts" : "./guest.js", import.meta.url),
)

/** Room for new objects from the start: it saves the first collections, 4 ms. */
const flags = ["--min-semi-space-size=8"]

/** `spawned` is called when the process starts by itself. */
export async function startGuest(policy: Policy, spawned?: () => void): Promise<Guest> {
  let guest: Guest | undefined
  const compiled = join(Global.cache(), "compile")
  const boundary = await startBoundary(
    { ...policy, show: [compiled] },
    {
      command: process.execPath,
      args: [...flags, code],
      // What this process has compiled need not be compiled again. Inside it cannot be changed.
      env: { ...environment(), NODE_COMPILE_CACHE: compiled },
      bridges: true,
      // It does nothing before the first prompt.
      waits: true,
      spawned,
      async allowUrl(url) {
        if (!guest) return denyUrl(url)
        return guest.checkUrl(url)
      },
    },
  )
  const { child, status, stop, disarm } = boundary
  let tail = ""
  let reported = 0
  /** Warnings of the guest are for the person; a hostile one cannot fill the screen with them. */
  const report = (line: string) => {
    const [, text] = /^(?:warning|error): (.+)/.exec(line) ?? []
    if (text && ++reported <= mostReported) Log.warn(`in the sandbox: ${text}`)
    else if (!text) Log.debug("from the sandbox", { line })
  }
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    tail = (tail + text).slice(-tailSize)
    const lines = text.split("\n").filter((line) => line.trim())
    for (const line of lines) report(line.slice(0, 1_000))
  })
  child.stdout?.resume()
  const ended = boundary.ended.then((end) => [howOf(end), lastLine(tail)].filter(Boolean).join(": "))
  guest = createGuest({ stream: child.stdio[3] as Duplex, status, ended, stop, disarm })
  return guest
}

/** No keys, and folders of its own: the real ones are hidden inside. */
function environment(): Record<string, string> {
  const own = {
    [guestVariable]: "1",
    VITAMIN_DATA_DIR: `${inside}/data`,
    XDG_CONFIG_HOME: `${inside}/config`,
    XDG_STATE_HOME: `${inside}/state`,
    XDG_CACHE_HOME: `${inside}/cache`,
  }
  return { ...Env.forCommand([]), ...own, ...(canSwitchProxy() ? {} : { [forNode]: "1" }) }
}

/** Whether Node has what `useProxy` calls. */
function canSwitchProxy(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  return major > 25 || (major === 24 && minor >= 14) || (major === 25 && minor >= 4)
}

function howOf({ exceeded, replaced, signal, exitCode }: Awaited<Boundary["ended"]>): string {
  if (replaced) return `another program replaced ${replaced}, which was then no longer protected`
  if (exceeded) return `it exceeded its limit of ${exceeded}`
  return signal ? `signal ${signal}` : `exit code ${exitCode}`
}

function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim())
  return lines.find((line) => /Error\b/.test(line)) ?? lines.at(-1) ?? ""
}
