// The process of one sandbox: started through the boundary of the operating system, with a pipe to it.
import { join } from "node:path"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { type Boundary, type Policy, startBoundary } from "#ability/sandbox/sandbox.ts"
import { UrlDenied } from "#ability/web/check-url.ts"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import { guestVariable } from "#kernel/process/guest.ts"
import * as Log from "#kernel/process/log.ts"
import { createGuest, type Guest } from "./create-guest.ts"

const inside = "/tmp/vitamin"
const tailSize = 2_000
const mostReported = 50

/** The guest's code lies beside this file: built, or in the source tree. */
const code = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../guest/guest.ts" : "./guest.js", import.meta.url),
)

export async function startGuest(policy: Policy): Promise<Guest> {
  let guest: Guest | undefined
  const compiled = join(Global.cache(), "compile")
  const boundary = await startBoundary(
    { ...policy, show: [compiled] },
    {
      command: process.execPath,
      args: [code],
      // What this process has compiled need not be compiled again. Inside it cannot be changed.
      env: { ...environment(), NODE_COMPILE_CACHE: compiled },
      bridges: true,
      async allowUrl(url) {
        if (!guest) throw new UrlDenied(url, "domain", "the sandbox has not started.")
        return guest.checkUrl(url)
      },
    },
  )
  const { child, status, stop } = boundary
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
  guest = createGuest({ stream: child.stdio[3] as Duplex, status, ended, stop })
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
  return { ...Env.forCommand([]), ...own }
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
