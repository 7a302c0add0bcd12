// A small machine for escape probes: a home with secrets, a project that may be written, servers and a process that must
// not be reached, all belonging to one user; and a process of that user that starts boundaries.
import { execFile, execFileSync, fork, spawn, spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as Http from "node:http"
import { type AddressInfo, createServer, type ListenOptions } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Policy, Status } from "#ability/sandbox/sandbox.ts"

export type Result = {
  out: string
  errors: string
  status?: Status
  exitCode?: number | null
  signal?: string | null
  exceeded?: string
}
export type World = {
  home: string
  project: string
  variables: Record<string, string>
  inside(script: string, policy?: Partial<Policy>): Promise<Result>
  /** The same without a boundary, to see that the probe works. */
  outside(script: string): Promise<string>
  /** What a probe has changed or reached, one line each. */
  damage(): string[]
} & AsyncDisposable

/** A descriptor of the runner that a program must not inherit. Node itself closes only the first ones. */
export const leakedFd = 100
const nobody = 65_534
const prelude = `
held() { echo "held"; }
try() { if "$@" >/dev/null 2>&1; then echo "ESCAPED $*"; else held; fi; }
shows() { case "$("$@" 2>/dev/null)" in *secret*) echo "ESCAPED $*";; *) held;; esac; }
proxy() { exec 9<>/dev/tcp/127.0.0.1/3128 && printf "$1" >&9 && timeout 3 cat <&9; }
`

/** Why probes cannot run here; undefined if they can. */
export function whyNot(as: "root" | "user"): string | undefined {
  if (process.platform !== "linux") return "the boundary of Linux is tested on Linux only"
  if (spawnSync("bwrap", ["--version"]).status !== 0)
    return "bubblewrap is not installed (script/setup.sh does it)"
  if (spawnSync("gcc", ["--version"]).status !== 0) return "the probes need gcc"
  if (as === "root" && process.getuid!() !== 0) return "the tests do not run as root"
  return undefined
}

export async function createWorld(as: "root" | "user"): Promise<World> {
  const stack = new AsyncDisposableStack()
  try {
    return await create(as, stack)
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

async function create(as: "root" | "user", stack: AsyncDisposableStack): Promise<World> {
  const ids = as === "user" && process.getuid!() === 0 ? { uid: nobody, gid: nobody } : {}
  // Not in the folder for temporary files, which is another one inside.
  const root = mkdtempSync("/var/tmp/vitamin-box-")
  stack.defer(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  const [home, project, outside] = [join(root, "home"), join(root, "home/project"), join(root, "outside")]
  const name = root.slice("/var/tmp/".length)
  const shared = [`/tmp/${name}.txt`, `/dev/shm/${name}.txt`]
  const canary = join(outside, "canary.txt")
  const files = {
    [canary]: "secret and intact\n",
    [join(home, ".ssh/id_ed25519")]: "secret\n",
    [join(home, ".aws/credentials")]: "secret\n",
    [join(home, ".profile")]: "# secret\n",
    [join(home, ".local/state/vitamin/token")]: "secret\n",
    [join(home, ".local/share/vitamin/auth.json")]: "secret\n",
    [join(home, ".config/vitamin/vitamin.jsonc")]: "{} // secret\n",
    [join(project, ".env")]: "secret\n",
    [join(project, "README.md")]: "# project\n",
    [join(project, ".husky/pre-commit")]: "true\n",
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(file, ".."), { recursive: true })
    writeFileSync(file, text)
  }
  mkdirSync(join(home, ".local/state/vitamin/sandbox"), { recursive: true })
  for (const file of shared) writeFileSync(file, "secret\n", { mode: 0o666 })
  for (const file of shared) stack.defer(() => rmSync(file, { force: true }))
  execFileSync("git", ["init", "-q", project])
  execFileSync("gcc", ["-o", join(project, "probe"), join(import.meta.dirname, "probe.c")])
  execFileSync("cp", [join(project, "probe"), join(project, "probe-setuid")])
  if (ids.uid) execFileSync("chown", ["-R", `${ids.uid}:${ids.gid}`, root])
  execFileSync("chmod", ["4755", join(project, "probe-setuid")])
  if (process.getuid!() === 0) execFileSync("chown", ["root", join(project, "probe-setuid")])
  if (process.getuid!() === 0) execFileSync("chmod", ["4755", join(project, "probe-setuid")])
  const before = treeOf(root)

  const reached: string[] = []
  const listen = async (what: string, place: ListenOptions) => {
    const server = createServer((socket) => {
      reached.push(what)
      socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\n\r\nsecret\n")
    })
    server.listen(place)
    await once(server, "listening")
    stack.defer(() => void server.close())
    if (place.path && !place.path.startsWith("\0")) execFileSync("chmod", ["777", place.path])
    return server
  }
  const portOf = (server: { address(): unknown }) => String((server.address() as AddressInfo).port)
  const [tcp, tcp6] = [
    await listen("tcp", { port: 0, host: "127.0.0.1" }),
    await listen("tcp6", { port: 0, host: "::1" }),
  ]
  const sockets = {
    SOCKET_HOME: join(home, "agent.sock"),
    SOCKET_PROJECT: join(project, "server.sock"),
    SOCKET_TMP: `/tmp/${name}.sock`,
  }
  for (const [what, path] of Object.entries(sockets)) await listen(what, { path })
  await listen("abstract", { path: `\0${name}` })
  const udp = createSocket("udp4")
    .on("message", () => reached.push("udp"))
    .bind(0, "127.0.0.1")
  await once(udp, "listening")
  stack.defer(() => void udp.close())
  const allowed = Http.createServer((_, response) => response.end("allowed\n")).listen(0, "127.0.0.1")
  await once(allowed, "listening")
  stack.defer(() => void allowed.close().closeAllConnections())

  const victim = spawn("sleep", ["1000"], { ...ids, env: { SECRET: "secret" }, stdio: "ignore" })
  stack.defer(() => void victim.kill())
  const env = { PATH: process.env.PATH!, HOME: home, NODE_COMPILE_CACHE: "" }
  const leak = openSync(canary, "r+")
  const runner = fork(join(import.meta.dirname, "runner.ts"), {
    ...ids,
    env,
    execArgv: [],
    stdio: Object.assign(Array(leakedFd + 1).fill("ignore"), { 2: "inherit", 3: "ipc", [leakedFd]: leak }),
  })
  stack.defer(() => void runner.kill("SIGKILL"))
  await once(runner, "message")

  const variables: Record<string, string> = {
    ...{ PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: home, OUT: outside, CANARY: canary, PROJECT: project },
    ...{
      TCP: portOf(tcp),
      TCP6: portOf(tcp6),
      UDP: portOf(udp),
      ALLOWED: portOf(allowed),
      VICTIM: String(victim.pid),
    },
    ...{ ABSTRACT: `@${name}`, SHARED: shared[0]!, SHM: shared[1]!, LEAK: String(leakedFd), ...sockets },
  }
  let count = 0

  async function inside(script: string, policy: Partial<Policy> = {}): Promise<Result> {
    const id = ++count
    const answer = new Promise<Result>((resolve) => {
      const take = (message: Result & { id: number }) => {
        if (message.id !== id) return
        runner.off("message", take)
        resolve(message)
      }
      runner.on("message", take)
    })
    const usual = {
      directory: project,
      allowWrite: ["."],
      denyRead: ["~/.ssh", "~/.aws", ".env"],
      allowedDomains: [],
    }
    const limits = { memory: 300, processes: 60, timeout: 20_000 }
    runner.send({
      id,
      policy: { ...usual, ...limits, ...policy },
      options: { command: "bash", args: ["--norc", "-c", prelude + script], env: variables },
    })
    return answer
  }

  async function outsideRun(script: string): Promise<string> {
    const args = ["--norc", "-c", prelude + script]
    const { stdout } = await promisify(execFile)("bash", args, {
      ...{ ...ids, env: variables, cwd: project, timeout: 10_000 },
    })
    reached.length = 0
    return stdout
  }

  function damage(): string[] {
    const now = treeOf(root)
    const changed = [...before]
      .filter(([path, state]) => now.get(path) !== state)
      .map(([path]) => `changed: ${path}`)
    const added = [...now.keys()]
      .filter((path) => !before.has(path) && !isExpected(path, project))
      .map((path) => `new: ${path}`)
    const ended = victim.exitCode !== null || victim.signalCode !== null ? ["the victim was ended"] : []
    return [...changed, ...added, ...ended, ...reached.splice(0).map((what) => `reached: ${what}`)]
  }

  return {
    home,
    project,
    variables,
    inside,
    outside: outsideRun,
    damage,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Every path with its content. */
function treeOf(root: string): Map<string, string> {
  const list = execFileSync("find", [root, "-printf", "%p\\0%y %m %l\\0"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  }).split("\0")
  const all = new Map<string, string>()
  for (let i = 0; i + 1 < list.length; i += 2) {
    const [path, state] = [list[i]!, list[i + 1]!]
    if (state.startsWith("s")) continue
    all.set(
      path,
      state.startsWith("f") && existsSync(path) ? `${state} ${readFileSync(path, "latin1")}` : state,
    )
  }
  return all
}

/** What a probe may leave: files in the project that decide nothing. */
function isExpected(path: string, project: string): boolean {
  return path.startsWith(`${project}/free-`)
}
