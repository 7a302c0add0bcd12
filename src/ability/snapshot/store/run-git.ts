// Runs git on the shadow store only. It reads no configuration of the project, the person or the system, so no hook,
// filter, fsmonitor, textconv or alias applies, and it fetches nothing.
import { delimiter, isAbsolute } from "node:path"
import * as Env from "#kernel/process/env.ts"
import { errorCode } from "#util/error.ts"
import { childProcess } from "#util/process.ts"
import { GitFailed } from "./errors.ts"

export type GitCall = {
  /** The shadow store. */
  gitDir: string
  args: string[]
  /** A setting for this call only. */
  setting?: string
  worktree?: string
  index?: string
  /** Object folders of the project, to be read only. */
  objects?: string | undefined
  input?: string | Buffer
  maxBytes?: number
}

const longest = 120_000
const handedOn = /^(HOME|USER|LOGNAME|TMPDIR|XDG_.+|SYSTEMROOT)$/i

export function runGit(call: GitCall): Promise<Buffer> {
  const { args, setting, input, maxBytes = 256 << 20 } = call
  const command = args[0]!
  const all = setting === undefined ? args : ["-c", setting, ...args]
  return new Promise((resolve, reject) => {
    const child = childProcess().spawn("git", all, {
      cwd: call.worktree ?? call.gitDir,
      env: environment(call),
    })
    const chunks: Buffer[] = []
    let size = 0
    let errors = ""
    let tooMuch = false
    const end = () => void child.kill("SIGKILL")
    const timer = setTimeout(end, longest)
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) return void chunks.push(chunk)
      tooMuch = true
      end()
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-2_000)
    })
    child.once("error", (error) => {
      clearTimeout(timer)
      const missing = errorCode(error) === "ENOENT"
      reject(new GitFailed(command, missing ? "git is not installed, or its folder is gone" : error.message))
    })
    child.once("close", (code, signal) => {
      clearTimeout(timer)
      if (tooMuch) return reject(new GitFailed(command, "its output is too large"))
      if (code === 0) return resolve(Buffer.concat(chunks))
      reject(new GitFailed(command, errors.trim().split("\n").at(-1) || `ended with ${code ?? signal}`))
    })
    // Git may end before it has read everything; its exit code says what that means.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** A relative entry of PATH would let the project's own folder name the program. */
function environment({ gitDir, worktree, index, objects }: GitCall): Record<string, string> {
  const own = Object.fromEntries(Object.entries(Env.forChild()).filter(([name]) => handedOn.test(name)))
  const path = (Env.get("PATH") ?? "").split(delimiter).filter(isAbsolute).join(delimiter)
  return {
    ...own,
    PATH: path,
    GIT_DIR: gitDir,
    ...(worktree ? { GIT_WORK_TREE: worktree } : {}),
    ...(index ? { GIT_INDEX_FILE: index } : {}),
    ...(objects ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: quote(objects) } : {}),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  }
}

/** The variable is a list; a path that could be read as two is quoted. */
function quote(path: string): string {
  return /[:"\\\n]/.test(path) ? `"${path.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"` : path
}
