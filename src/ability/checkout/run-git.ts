// Runs git for checkouts. With `remote` it may reach the address of a project, with the keys and the credential helper of
// the person who runs this process. Otherwise it reads no configuration but the repository's own, and no hook runs.
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"
import { childProcess } from "#util/process.ts"

class GitFailed extends NamedError {
  constructor(command: string, reason: string) {
    super("Project.GitFailed", `git ${command} failed: ${reason}`, { command })
  }
}

type Options = {
  cwd: string
  input?: string | Buffer
  /** Milliseconds. */
  timeout?: number
  isRemote?: boolean
  variables?: Record<string, string>
}

const passed =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|XDG_.+|SSH_AUTH_SOCK|SSH_AGENT_PID|SSL_CERT_FILE|SSL_CERT_DIR|(HTTPS?|ALL|NO)_PROXY)$/i
const off = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "protocol.ext.allow=never"]
const slow = ["http.lowSpeedLimit=1000", "http.lowSpeedTime=30", "core.askPass="]
const usual = 120_000
const maxOutput = 256 << 20

export function runGit(args: string[], options: Options): Promise<Buffer> {
  const { cwd, input, timeout = usual, isRemote = false, variables = {} } = options
  const settings = [...off, ...(isRemote ? slow : [])].flatMap((pair) => ["-c", pair])
  return new Promise((resolve, reject) => {
    const child = childProcess().execFile(
      "git",
      [...settings, ...args],
      {
        cwd,
        env: { ...environment(isRemote), ...variables },
        timeout,
        killSignal: "SIGKILL",
        maxBuffer: maxOutput,
        encoding: "buffer",
      },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout)
        const said = stderr
          .toString()
          .trim()
          .split("\n")
          .filter((line) => !/^(hint|warning):/.test(line))
          .slice(-2)
          .join(" ")
        const late = error.killed ? `no answer in ${Math.round(timeout / 1_000)} seconds` : undefined
        reject(new GitFailed(args[0]!, late ?? (said.slice(0, 500) || error.message)))
      },
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })
}

export async function gitText(args: string[], options: Options): Promise<string> {
  return (await runGit(args, options)).toString().trim()
}

function environment(isRemote: boolean): Record<string, string> {
  const own = Object.fromEntries(
    Object.entries(Env.forChild(["SSH_AUTH_SOCK"])).filter(([name]) => passed.test(name)),
  )
  return {
    ...own,
    GIT_ALLOW_PROTOCOL: isRemote ? "https:http:ssh:git:file" : "file",
    GIT_TERMINAL_PROMPT: "0",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=10",
    GIT_CONFIG_NOSYSTEM: "1",
    ...(isRemote ? {} : { GIT_CONFIG_GLOBAL: "/dev/null" }),
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
  }
}
