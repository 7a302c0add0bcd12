// The connection to a language server: JSON-RPC over a process that cannot outlive us. Requests have a time limit, and a
// server that breaks the protocol, floods us or does not read is killed. Its end fails every open request.
import { startGuarded } from "#ability/shell/guarded-process.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText, NamedError } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { createFrameReader, writeFrame } from "./frames.ts"
import { watchMemory } from "./watch-memory.ts"

export type Connection = Readonly<{
  /** Rejects with `Ended` when the server ends, and with `Failed` for an error. A server that does not answer is killed,
   * unless the caller sets a time limit of its own. */
  request(method: string, params: unknown, timeout?: number): Promise<unknown>
  notify(method: string, params: unknown): void
  /** Why the server is gone. */
  reason(): string | undefined
  /** Asks the server to end, and kills it soon after. */
  end(): Promise<void>
  kill(reason: string): void
}>

export class Ended extends NamedError {
  constructor(reason: string) {
    super("Lsp.Ended", reason)
  }
}

class Failed extends NamedError {
  constructor(method: string, reason: string) {
    super("Lsp.Failed", `${method}: ${reason}`, { method })
  }
}

type Waiting = {
  resolve(value: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout
  method: string
}

/** Milliseconds for one answer, and for a server to end by itself. */
const answerLimit = 30_000
const endLimit = 200
/** Bytes in ten seconds, and bytes that the server has not read. */
const floodLimit = 64 << 20
const unreadLimit = 64 << 20
const stderrKept = 4_000
const maxSaid = 300
const methodNotFound = -32_601

export function createConnection(options: {
  command: readonly string[]
  cwd: string
  env: Record<string, string>
  memory: number
  onNotification: (method: string, params: unknown) => void
  /** The result for a request of the server; undefined for a method that is not known. */
  answer: (method: string, params: unknown) => unknown
  onEnd: (reason: string) => void
}): Connection {
  const env = { ...Env.forCommand([]), ...options.env }
  const child = startGuarded({ command: [...options.command], cwd: options.cwd, env })
  const waiting = new Map<number, Waiting>()
  let nextId = 1
  let reason: string | undefined
  let stderr = ""
  let received = { bytes: 0, since: performance.now() }

  const finish = (why: string) => {
    if (reason !== undefined) return
    reason = why
    stopWatching()
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(new Ended(why))
    }
    waiting.clear()
    options.onEnd(why)
  }
  const kill = (why: string) => {
    finish(why)
    child.kill()
    void child.end()
  }
  const stopWatching = watchMemory({ pid: child.pid, limit: options.memory, onExceeded: kill })
  const write = (message: object) => {
    if (reason !== undefined || !child.stdin.writable) return
    child.stdin.write(writeFrame(message))
    if (child.stdin.writableLength > unreadLimit) kill("it does not read its input")
  }
  const answerTo = (id: unknown, method: string, params: unknown) => {
    const result = options.answer(method, params)
    write(
      result === undefined
        ? { id, error: { code: methodNotFound, message: `vitamin does not support ${method}` } }
        : { id, result },
    )
  }
  const take = (message: Record<string, unknown>) => {
    const { id, method, params, result, error } = message
    if (typeof method === "string")
      return id === undefined || id === null
        ? options.onNotification(method, params)
        : answerTo(id, method, params)
    const one = typeof id === "number" ? waiting.get(id) : undefined
    if (!one) return
    waiting.delete(id as number)
    clearTimeout(one.timer)
    if (error === undefined || error === null) one.resolve(result)
    else one.reject(new Failed(one.method, shorten((error as { message?: unknown }).message)))
  }
  const frames = createFrameReader({ onMessage: take, onBroken: kill })
  const countBytes = (bytes: number) => {
    const now = performance.now()
    if (now - received.since > 10_000) received = { bytes: 0, since: now }
    received.bytes += bytes
    if (received.bytes > floodLimit) kill(`it sent more than ${floodLimit >> 20} MB in ten seconds`)
  }

  child.stdin.on("error", () => {})
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("latin1")).slice(-stderrKept)
  })
  child.stdout.on("data", (chunk: Buffer) => {
    countBytes(chunk.length)
    try {
      frames.push(chunk)
    } catch (error) {
      kill(`it sent a message that cannot be used: ${errorText(error)}`)
    }
  })
  void child.exited.then(({ code, signal, error }) => {
    const how = error ? error.message : signal ? `it was ended by ${signal}` : `it exited with ${code}`
    const said = shorten(reasonIn(stderr))
    kill(said ? `${how}: ${said}` : how)
  })

  function request(method: string, params: unknown, timeout?: number): Promise<unknown> {
    if (reason !== undefined) return Promise.reject(new Ended(reason))
    const id = nextId++
    const limit = timeout ?? answerLimit
    return new Promise((resolve, reject) => {
      const late = () => {
        const silent = `it did not answer ${method} in ${limit / 1_000} s`
        if (timeout === undefined) return kill(silent)
        waiting.delete(id)
        write({ method: "$/cancelRequest", params: { id } })
        reject(new Failed(method, silent))
      }
      waiting.set(id, { resolve, reject, method, timer: setTimeout(late, limit).unref() })
      write({ id, method, params })
    })
  }

  async function end(): Promise<void> {
    if (reason === undefined) {
      await waitAtMost(
        endLimit,
        request("shutdown", undefined, endLimit).catch(() => {}),
      )
      write({ method: "exit" })
      child.stdin.end()
      await waitAtMost(endLimit, child.exited)
    }
    finish("it was ended")
    child.kill()
    await child.end()
  }

  return Object.freeze({
    request,
    notify: (method: string, params: unknown) => write({ method, params }),
    reason: () => reason,
    end,
    kill,
  })
}

/** The line that says why, which may stand before a backtrace; else the last one. */
function reasonIn(stderr: string): string | undefined {
  const lines = stderr.trim().split("\n")
  return lines.find((line) => /^\s*(fatal|\w*error)\b/i.test(line)) ?? lines.at(-1)
}

function shorten(text: unknown): string {
  return Log.escapeControls(Secret.redact(String(text ?? "").trim())).slice(0, maxSaid)
}
