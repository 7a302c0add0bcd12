// The boundary on macOS, made by the package sandbox-runtime (Seatbelt). It has no namespaces, no filter of system calls
// and no limit of memory, so its status says what is missing.
import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { homedir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Global from "#kernel/process/global.ts"
import * as OptionalPackage from "#kernel/process/optional-package.ts"
import { childProcess } from "#util/process.ts"
import { quoteWord } from "#util/quote-word.ts"
import type { Boundary, Ended } from "./hold-boundary.ts"
import { NotIsolated, type Policy, placeOf, type Status } from "./policy.ts"
import { protectedPlaces } from "./protected-places.ts"
import type { Options } from "./start-boundary.ts"

/** The used part of the package. One sandbox per process. */
type Runtime = {
  SandboxManager: {
    initialize(
      config: {
        network: { allowedDomains: string[]; deniedDomains: string[] }
        filesystem: { denyRead: string[]; allowWrite: string[]; denyWrite: string[] }
      },
      ask?: (place: { host: string; port?: number }) => Promise<boolean>,
    ): Promise<void>
    wrapWithSandbox(command: string): Promise<string>
    reset(): Promise<void>
  }
}

const runtime = { name: "@anthropic-ai/sandbox-runtime", version: "0.0.83", folder: "sandbox-runtime" }
const missing = ["macOS limits neither memory nor processes of a sandbox: only its time is limited."]
/** A start file of the shell, which must not be writable. */
const probe = `if { : >>${quoteWord(join(homedir(), ".profile"))}; } 2>/dev/null; then echo "a file outside of it could be written" >&2; exit 126; fi`

export async function startWithRuntime(policy: Policy, options: Options): Promise<Boundary> {
  const file = OptionalPackage.find(runtime)
  if (!file)
    throw new NotIsolated(
      `${runtime.name} is not installed. Install it: ${OptionalPackage.installCommand(runtime)}`,
    )
  const { SandboxManager }: Runtime = await import(pathToFileURL(file).href)
  const { allowUrl } = options
  const place = (path: string) => placeOf(path, policy.directory)
  const writable = policy.allowWrite.map(place)
  const own = [Global.data(), Global.config(), Global.state(), Global.cache()]
  await SandboxManager.initialize(
    {
      network: { allowedDomains: policy.allowedDomains, deniedDomains: [] },
      filesystem: {
        denyRead: [...policy.denyRead.map(place), ...own],
        allowWrite: writable,
        denyWrite: writable
          .flatMap((folder) => protectedPlaces(folder).places)
          .flatMap(({ path, mode }) => (mode === "write" ? [] : [path])),
      },
    },
    async ({ host, port = 443 }) =>
      (await allowUrl?.(`https://${host}:${port}/`).catch(() => undefined)) !== undefined,
  )
  const line = [options.command, ...options.args].map(quoteWord).join(" ")
  const child = childProcess().spawn(
    "/bin/sh",
    ["-c", await SandboxManager.wrapWithSandbox(`${probe}; exec ${line}`)],
    {
      env: options.env,
      cwd: options.cwd ?? policy.directory,
      stdio: options.stdio ?? ["pipe", "pipe", "pipe", "pipe"],
      detached: true,
    },
  )
  if (child.pid === undefined) throw new NotIsolated(String((await once(child, "error"))[0]))
  return hold(child, policy, () => SandboxManager.reset())
}

function hold(child: ChildProcess, { timeout }: Policy, reset: () => Promise<void>): Boundary {
  const pid = child.pid!
  let isLate = false
  const timer = timeout === undefined ? undefined : setTimeout(late, timeout).unref()
  function late(): void {
    isLate = true
    kill()
  }
  function kill(): void {
    try {
      process.kill(-pid, "SIGKILL")
    } catch {
      // It has ended.
    }
  }
  async function settle(): Promise<Ended> {
    const [exitCode, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null]
    clearTimeout(timer)
    kill()
    await reset()
    return { exitCode, signal, ...(isLate ? { exceeded: "time" } : {}) }
  }
  const ended = settle()
  const status: Status = { isolated: true, pid, by: "sandbox-runtime", missing }
  const stop = async () => {
    kill()
    await ended
  }
  const disarm = async () => ({ renamed: [], isPartial: false })
  return Object.freeze({ child, status, ended, stop, disarm })
}
