// What an editor offers to an agent: files that are open with changes that are not saved, and terminals.
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { type ClientApp, type CreateTerminalRequest, methods, RequestError } from "@agentclientprotocol/sdk"

type Terminal = {
  child: ChildProcess
  output: string
  exit: Promise<{ exitCode: number | null; signal: string | null }>
}

export type Desk = ReturnType<typeof createDesk>

/** `isSaving: false`: the editor changes its buffer and leaves the file alone. */
export function createDesk({ isSaving = true } = {}) {
  /** The texts of open files, by path. */
  const buffers = new Map<string, string>()
  const terminals = new Map<string, Terminal>()
  const created: CreateTerminalRequest[] = []
  /** The requests in their order, with the path or the id that they name. */
  const log: string[] = []
  /** Set by a test: refuses requests of a method. */
  const refused = new Set<string>()
  /** Set by a test: new terminals wait for it. */
  const slow: { until?: Promise<void> } = {}

  function note(method: string, what: string): void {
    log.push(`${method} ${what}`)
    if (refused.has(method)) throw RequestError.internalError(undefined, "the editor does not want to")
  }

  function terminalOf(terminalId: string): Terminal {
    const terminal = terminals.get(terminalId)
    if (!terminal) throw RequestError.resourceNotFound(terminalId)
    return terminal
  }

  function add(app: ClientApp): ClientApp {
    const { fs, terminal } = methods.client
    return app
      .onRequest(fs.readTextFile, ({ params: { path } }) => {
        note("read", path)
        const open = buffers.get(path)
        if (open !== undefined) return { content: open }
        try {
          return { content: readFileSync(path, "utf8") }
        } catch {
          throw RequestError.resourceNotFound(path)
        }
      })
      .onRequest(fs.writeTextFile, ({ params: { path, content } }) => {
        note("write", path)
        buffers.set(path, content)
        if (isSaving) writeFileSync(path, content)
        return {}
      })
      .onRequest(terminal.create, async ({ params }) => {
        note("create", params.command)
        await slow.until
        created.push(params)
        const terminalId = `terminal-${created.length}`
        terminals.set(terminalId, start(params))
        return { terminalId }
      })
      .onRequest(terminal.output, async ({ params: { terminalId } }) => {
        note("output", terminalId)
        return { output: terminalOf(terminalId).output, truncated: false }
      })
      .onRequest(terminal.waitForExit, ({ params: { terminalId } }) => terminalOf(terminalId).exit)
      .onRequest(terminal.kill, ({ params: { terminalId } }) => {
        note("kill", terminalId)
        end(terminalOf(terminalId))
        return {}
      })
      .onRequest(terminal.release, ({ params: { terminalId } }) => {
        note("release", terminalId)
        end(terminalOf(terminalId))
        terminals.delete(terminalId)
        return {}
      })
  }

  return {
    buffers,
    terminals,
    created,
    log,
    refused,
    slow,
    add,
    close: () => [...terminals.values()].forEach(end),
  }
}

function start({ command, args = [], env = [], cwd }: CreateTerminalRequest): Terminal {
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]))
  const child = spawn(command, args, {
    cwd: cwd!,
    env: { ...process.env, ...variables },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  })
  const exit = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal }))
  const terminal: Terminal = { child, output: "", exit }
  const take = (part: Buffer) => {
    terminal.output += part.toString()
  }
  child.stdout.on("data", take)
  child.stderr.on("data", take)
  return terminal
}

function end({ child }: Terminal): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid!, "SIGKILL")
  } catch {
    // It has ended meanwhile.
  }
}
