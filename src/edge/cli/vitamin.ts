#!/usr/bin/env node
// The installed command. It answers --version and the short help before anything else is loaded, and turns the compile
// cache on. If Node is too old, it starts a newer one that it finds. The syntax must be plain enough for old Nodes.
import type { spawnSync } from "node:child_process"
import * as module from "node:module"
import { homedir } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import { fileURLToPath } from "node:url"
import { ownCommand } from "#util/own-command.ts"
import { version } from "#util/version.ts"

const oldest = 24
/** Milliseconds that the process may live on after its command. */
const leftoverTime = 1_000
const examples = [
  ["", "open the interactive terminal"],
  ['run "fix the login bug"', "run a prompt in this folder"],
  ["serve", `serve over HTTP (${ownCommand} acp: for editors)`],
  ["doctor", "check the installation"],
]
const shortHelp = `vitamin ${version}: a coding agent for the terminal, the editor and the server

${examples.map(([words = "", does]) => `  ${ownCommand} ${words.padEnd(27)} ${does}`).join("\n")}

All commands: ${ownCommand} --help
`

const args = process.argv.slice(2)

if (args[0] === "--version" || args[0] === "-v") console.log(version)
else if (args.length === 0 && !(process.stdin.isTTY && process.stdout.isTTY)) process.stdout.write(shortHelp)
else if (Number.parseInt(process.versions.node, 10) >= oldest) await start()
else await restartInNewerNode()

async function start() {
  if (!isSomewhere()) return fail("vitamin: the current folder has been removed. Start it in another one.")
  const base = process.env.XDG_CACHE_HOME
  const cache = base && isAbsolute(base) ? base : join(homedir(), ".cache")
  const compiled = join(cache, "vitamin", "compile")
  // Creating a folder below /proc never ends.
  if (!compiled.startsWith("/proc/")) module.enableCompileCache(compiled)
  const { main } = await import("./main.ts")
  process.exitCode = await main(args)
  endSoon()
}

/** Trusted code of a project may leave a timer or a server behind, which would keep the process alive for ever. What
 * vitamin itself started is closed by now. The timer alone does not keep the process alive. */
function endSoon() {
  const timer = setTimeout(() => {
    if (process.stdout.writableLength + process.stderr.writableLength > 0) endSoon()
    else process.exit()
  }, leftoverTime)
  timer.unref()
}

function isSomewhere(): boolean {
  try {
    return process.cwd() !== ""
  } catch {
    return false
  }
}

async function restartInNewerNode() {
  const { spawn, spawnSync } = await import("node:child_process")
  const { existsSync } = await import("node:fs")
  const node = newerNode((path) => existsSync(path) && isNewEnough(path, spawnSync))
  if (!node)
    return fail(
      `vitamin needs Node ${oldest} or newer, this is ${process.version}. Try: npm install -g node@${oldest}`,
    )
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => fail(`${node} could not be started: ${error.message}`))
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1)
  })
}

function fail(message: string) {
  console.error(message)
  process.exitCode = 1
}

/** A Node that is installed beside the package, one in the checkout, or another one on the PATH. */
function newerNode(isUsable: (path: string) => boolean): string | undefined {
  const name = `node-${process.platform}-${process.arch}/bin/node`
  const checkout = fileURLToPath(new URL(`../script/node24/node_modules/${name}`, import.meta.url))
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"))
  return [installed(name), checkout, ...onPath].find((node) => node !== undefined && isUsable(node))
}

function installed(name: string): string | undefined {
  try {
    return module.createRequire(import.meta.url).resolve(name)
  } catch {
    return undefined
  }
}

function isNewEnough(node: string, run: typeof spawnSync): boolean {
  const { stdout } = run(node, ["--version"], { encoding: "utf8" })
  return Number.parseInt(String(stdout).slice(1), 10) >= oldest
}
