// Starts the process that serves stories, and asks it which modules a story file imports.
import { fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"
import type { Answer, Start, Task } from "./server/story-server.ts"

/** Paths from the root. `problems`: modules that cannot be parsed or found. */
export type Modules = { files: string[]; problems: string[] }
export type StoryServer = Readonly<{
  origin: string
  token: string
  modules(file: string): Promise<Modules>
  close(): void
}>

const startLimit = 20_000
/** Between two answers, while a question waits. */
const answerLimit = 60_000
const program = new URL(
  import.meta.url.endsWith(".ts") ? "./server/story-server.ts" : "./story-server.js",
  import.meta.url,
)
/** Node parses modules without running them only with this flag. */
const flags = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"]

class ServerFailed extends NamedError {
  constructor(reason: string) {
    super("World.ServerFailed", `The process that serves stories ${reason}.`)
  }
}

export async function startServer(start: Omit<Start, "token">): Promise<StoryServer> {
  const token = randomBytes(16).toString("hex")
  const env = { PATH: Env.get("PATH") ?? "" }
  const child = fork(fileURLToPath(program), {
    env,
    execArgv: flags,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  })
  const waiting = new Map<number, PromiseWithResolvers<Modules>>()
  const ready = Promise.withResolvers<number>()
  const late = setTimeout(
    () => ready.reject(new ServerFailed(`did not start in ${startLimit / 1_000} s`)),
    startLimit,
  )
  let questions = 0
  let silent: NodeJS.Timeout | undefined
  child.on("message", (answer: Answer) => {
    if ("port" in answer) return ready.resolve(answer.port)
    waiting.get(answer.id)?.resolve(answer.graph)
    waiting.delete(answer.id)
    watch()
  })
  const fail = (reason: string) => {
    const error = new ServerFailed(reason)
    ready.reject(error)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    clearTimeout(silent)
  }
  child.on("error", (error) => fail(`could not be started: ${error.message}`))
  child.on("exit", (code, signal) => fail(`ended unexpectedly (${signal ?? `code ${code}`})`))
  send({ start: { ...start, token } })
  try {
    const origin = `http://127.0.0.1:${await ready.promise}`
    return Object.freeze({ origin, token, modules, close })
  } catch (error) {
    close()
    throw error
  } finally {
    clearTimeout(late)
  }

  function modules(file: string): Promise<Modules> {
    const asked = Promise.withResolvers<Modules>()
    const id = questions++
    waiting.set(id, asked)
    if (waiting.size === 1) watch()
    send({ graph: file, id })
    return asked.promise
  }

  /** Questions are answered one after the other, so the limit starts again with each answer. */
  function watch(): void {
    clearTimeout(silent)
    if (waiting.size) silent = setTimeout(giveUp, answerLimit)
  }

  function giveUp(): void {
    fail(`did not answer in ${answerLimit / 1_000} s`)
    close()
  }

  function send(task: Task): void {
    child.send(task, (error) => error && fail(`cannot be reached: ${error.message}`))
  }

  function close(): void {
    child.kill("SIGKILL")
  }
}
