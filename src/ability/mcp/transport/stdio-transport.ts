// A transport to a server program: one JSON message per line, over a process that cannot outlive us. Lines that are not
// messages are skipped, a message that is too long becomes an error, and the end of the program is reported with its
// last stderr lines.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { Crashed, InvalidServer, Unavailable } from "#ability/mcp/server/errors.ts"
import type { MCPLog, MCPServerConfig } from "#ability/mcp/server/types.ts"
import { type Exit, type GuardedProcess, startGuarded } from "#ability/shell/guarded-process.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { type Cut, createBoundedLines } from "#util/bounded-lines.ts"
import { errorCode } from "#util/error.ts"

/** One message, in bytes. */
export const messageLimit = 32 << 20
/** A server that sends a line longer than this is ended. */
const floodLimit = 2 ** 30
/** The error code of answers that this client makes up for the server. */
export const wrongAnswer = -31_999
/** Skipped lines are logged up to this number, each up to this size. */
const toldLines = 20
const toldBytes = 4_096
const stderrLines = 20
const stderrLineLimit = 4_096
const maxShown = 300
/** How long the remaining output of a dead server is read. */
const drain = 300

export type StdioTransport = Transport & {
  /** The SDK recognises a transport to a program by these two fields. */
  readonly pid: number | null
  readonly stderr: null
  /** Why the server ended by itself. */
  failure(): Error | undefined
}

export function createStdioTransport(options: {
  server: MCPServerConfig
  onLog: (log: MCPLog) => void
}): StdioTransport {
  const { server, onLog } = options
  let child: GuardedProcess | undefined
  let failure: Error | undefined
  let closed = false
  let skipped = 0

  const words = createStderrTail((message) => onLog({ level: "info", source: "stderr", message }))
  const deliver = (value: unknown, line: string) => {
    if (isMessage(value)) {
      skipped = 0
      return transport.onmessage?.(value)
    }
    skip(line)
    const id = isObject(value) && value.method === undefined ? value.id : undefined
    if (typeof id === "number") answer(id, "neither a result nor an error of the right type")
  }
  /** Answers for the server, so that the call does not wait for its timeout. */
  const answer = (id: number, message: string) =>
    transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: wrongAnswer, message } } as JSONRPCMessage)
  const skip = (line: string) => {
    if (++skipped <= toldLines)
      onLog({
        level: "warning",
        source: "client",
        message: `not a message, skipped: ${safeLine(line.slice(0, toldBytes))}`,
      })
  }
  const lines = createBoundedLines({
    limit: messageLimit,
    onLine: (line) => {
      const value = parse(line)
      if (value === undefined) skip(line)
      else for (const one of Array.isArray(value) ? value : [value]) deliver(one, line)
    },
    onCut: (cut) => {
      const id = answered(cut)
      const message = `a message of ${cut.bytes} bytes is too long (at most ${messageLimit})`
      onLog({ level: "warning", source: "client", message })
      if (id !== undefined) answer(id, message)
    },
  })
  const finish = () => {
    if (closed) return
    closed = true
    transport.onclose?.()
  }
  const fail = (error: Error) => {
    failure ??= error
    finish()
  }
  const watch = async (running: GuardedProcess) => {
    const silent = new Promise((resolve) => running.stdout.once("end", resolve))
    const exit = await Promise.race([running.exited, silent.then(() => within(running.exited))])
    if (exit) await within(silent)
    running.kill()
    fail(
      exit
        ? describe(server, exit, words.text())
        : new Crashed(server, "closed its output and was ended", words.text()),
    )
    await running.end()
  }

  const transport: StdioTransport = {
    get pid() {
      return child?.pid ?? null
    },
    stderr: null,
    failure: () => failure,
    async start() {
      if (!server.command?.[0]) throw new InvalidServer(server, "it has no command")
      const running = startGuarded({
        command: server.command,
        ...(server.env ? { env: server.env } : {}),
        ...(server.cwd ? { cwd: server.cwd } : {}),
      })
      child = running
      running.stdin.on("error", () => {})
      running.stderr.on("data", words.push)
      running.stdout.on("data", (chunk: Buffer) => {
        lines.push(chunk)
        if (lines.pending() <= floodLimit) return
        fail(new Crashed(server, "sent a line without an end and was ended", words.text()))
        running.kill()
      })
      void watch(running)
    },
    async send(message) {
      if (!child || closed || !child.stdin.writable) throw failure ?? new Unavailable(server, "it ended")
      if (child.stdin.write(`${JSON.stringify(message)}\n`)) return
      const { stdin } = child
      await new Promise<void>((resolve) => {
        stdin.once("drain", resolve)
        stdin.once("close", resolve)
      })
    },
    async close() {
      finish()
      await child?.end()
    },
  }
  return transport
}

/** Undefined if it takes longer than `drain`. */
function within<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([
    work,
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), drain).unref()),
  ])
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** A coarse check; the SDK checks the rest. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value.jsonrpc !== "2.0") return false
  const { method, id, result, error } = value
  if (typeof method === "string") return true
  if (typeof id !== "number" && typeof id !== "string") return false
  return isObject(error)
    ? Number.isInteger(error.code) && typeof error.message === "string"
    : isObject(result)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The id of a message that was cut. Servers send the id as the first or the last member. */
function answered({ head, tail }: Cut): number | undefined {
  const id =
    /"id"\s*:\s*(\d+)\s*\}\s*$/.exec(tail)?.[1] ??
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,/.exec(head)?.[1]
  return id === undefined ? undefined : Number(id)
}

function describe(server: MCPServerConfig, exit: Exit, said: string): Error {
  const [program] = server.command!
  if (exit.error)
    return new Unavailable(
      server,
      errorCode(exit.error) === "ENOENT" && server.cwd
        ? `${server.cwd} is no folder to start it in`
        : exit.error.message,
      { cause: exit.error },
    )
  if (exit.code === 127) return new Unavailable(server, `the program "${program}" was not found. ${said}`)
  if (exit.code === 126)
    return new Unavailable(server, `the program "${program}" cannot be executed. ${said}`)
  return new Crashed(server, exit.signal ? `was ended by ${exit.signal}` : `exited with ${exit.code}`, said)
}

/** The last stderr lines of a server, for the error about its end. */
function createStderrTail(onLine: (line: string) => void): {
  push(chunk: Buffer): void
  text(): string
} {
  const kept: string[] = []
  const keep = (line: string) => {
    const shown = safeLine(line)
    if (!shown) return
    kept.push(shown)
    if (kept.length > stderrLines) kept.shift()
    onLine(shown)
  }
  const lines = createBoundedLines({
    limit: stderrLineLimit,
    onLine: keep,
    onCut: ({ head, bytes }) => keep(`${head}… (${bytes} bytes)`),
  })
  return Object.freeze({ push: lines.push, text: () => kept.join("\n") })
}

/** A line escaped, redacted and shortened for a terminal or a log. */
export function safeLine(line: string): string {
  const text = Log.escapeControls(Secret.redact(line.trimEnd()))
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
