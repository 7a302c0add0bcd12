// The built command `vitamin acp` in a process of its own, and the lines of both sides. At the end every message is
// checked against the schema of the protocol.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { PassThrough, Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { env, type FakeLlm } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { checkExchange, type Version } from "./schema.ts"

export const command = fileURLToPath(new URL("../../../dist/vitamin.js", import.meta.url))

export type ProcessOptions = {
  llm?: FakeLlm
  args?: string[]
  env?: Record<string, string>
  /** The answers of the client are wrong on purpose. */
  isWrong?: boolean
}

export function startProcess(tmp: Tmp, options: ProcessOptions = {}, version: Version = 1) {
  const { llm, args = [] } = options
  const child = spawn(process.execPath, [command, "acp", ...args], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers, ...(llm ? env(llm, "chat").variables : {}), ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    errors = (errors + part).slice(-50_000)
  })
  const codeOf = ([code, signal]: unknown[]) => (code ?? signal) as number | string
  const exit = once(child, "close").then(codeOf)
  const left = once(child, "exit").then(codeOf)
  const [received, said] = [listen(child.stdout), new PassThrough()]
  said.pipe(child.stdin)
  child.stdin.on("error", () => {})
  const sent = listen(said)
  const raw = new Set<string>()
  return {
    pid: child.pid!,
    /** The ends for a client. */
    output: Writable.toWeb(said),
    input: Readable.toWeb(received.copy) as ReadableStream<Uint8Array>,
    errors: () => errors,
    /** Resolves with the exit code when the output is read to its end. */
    exit,
    /** Resolves when the process has exited, even if output is unread. */
    left,
    /** The lines of stdout so far. */
    lines: received.lines,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    stdin: child.stdin,
    stdout: child.stdout,
    /** Writes raw text to stdin, bypassing the client. */
    write(text: string | Buffer) {
      for (const line of text.toString().split("\n")) raw.add(line)
      said.write(text)
    },
    line: (pattern: RegExp) => found(received.lines, pattern, () => errors),
    async end(close: () => void): Promise<void> {
      const hung = setTimeout(() => child.kill("SIGKILL"), 30_000)
      child.stdin.end()
      await exit
      clearTimeout(hung)
      close()
      said.destroy()
      const fromClient = options.isWrong ? sent.lines.filter(isRequest) : sent.lines
      checkExchange({ fromAgent: received.lines, fromClient, raw, version })
    },
  }
}

function isRequest(line: string): boolean {
  return line.includes('"method"')
}

async function found(lines: string[], pattern: RegExp, errors: () => string): Promise<string> {
  let line: string | undefined
  await until(() => {
    line = lines.find((one) => pattern.test(one))
    return line !== undefined
  }, `a line ${pattern}: ${errors()}`)
  return line!
}

/** The lines of a stream, and a copy of the stream for its reader. */
function listen(stream: Readable): { lines: string[]; copy: Readable } {
  const copy = new PassThrough()
  const lines: string[] = []
  let rest = ""
  stream.on("data", (part: Buffer) => {
    copy.write(part)
    const parts = (rest + part.toString("utf8")).split("\n")
    rest = parts.pop()!
    lines.push(...parts.filter(Boolean))
  })
  stream.on("end", () => copy.end())
  return { lines, copy }
}
