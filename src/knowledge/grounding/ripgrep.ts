// The one owner of ripgrep: finds it and runs it, and passes on its output in pieces, so that it is never in memory whole.
// No configuration file of the person or the project is read, and its environment has none of our secrets.
// A model chooses the pattern, so every search has a time limit and the compiled pattern a size limit.
import { accessSync, constants, mkdirSync } from "node:fs"
import { createRequire } from "node:module"
import { delimiter, isAbsolute, join } from "node:path"
import type { Readable } from "node:stream"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { childProcess } from "#util/process.ts"

export type Command = { file: string; args: string[]; env?: Record<string, string> }
export type Outcome = {
  /** 0 something found, 1 nothing, 2 an error (or some files could not be read); undefined when stopped. */
  code: number | undefined
  errors: string
  /** Killed at the time limit; the pieces up to then were passed on. */
  timedOut: boolean
}

const require = createRequire(import.meta.url)
const binary = process.platform === "win32" ? "rg.exe" : "rg"
const maxErrors = 20_000
const maxPiece = 1 << 20
/** Linux takes no argument of more than 128 KB. */
const maxArgument = 30_000
const secondsAllowed = 20
/** ripgrep's default is ten times as much, which lets `(a{ 1000 }){1000}` compile and then run for minutes. */
const limits = ["--regex-size-limit=10M"]

/** How ripgrep ends a line that it cut (`--max-columns-preview`). */
export const cutMark = / \[\.\.\. (?:omitted end of long line|\d+ more match(?:es)?)\]$/

/** The note of tools about a search that reached the time limit. */
export const timeLimitNote = `stopped after ${secondsAllowed} s, there may be more; narrow the pattern or the path`

/** Arguments for lines with file and line number, cut to `maxColumns`. */
export function linesOf(maxColumns: number): string[] {
  const cut = [`--max-columns=${maxColumns}`, "--max-columns-preview"]
  return [
    ..."--line-number --with-filename --null --no-heading --no-messages --no-require-git".split(" "),
    ...cut,
  ]
}

/** The binary that came with the package, else `rg` on PATH, else the slower WebAssembly build. */
export function find(): Command {
  const found = packaged() ?? onPath() ?? wasm()
  if (!found)
    throw new NamedError(
      "Ripgrep.Missing",
      "ripgrep was not found. Install it (rg on PATH), or reinstall vitamin.",
    )
  return found
}

/** Resolved from the package that depends on it: a strict node_modules shows it to no other package. */
export function packaged(): Command | undefined {
  return attempt(() => {
    const owner = createRequire(require.resolve("@vscode/ripgrep"))
    const file = owner.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${binary}`)
    return { file, args: [] }
  })
}

/** Relative entries of PATH are skipped: with them, the project could provide the program. */
export function onPath(): Command | undefined {
  for (const folder of (Env.get("PATH") ?? "").split(delimiter).filter(isAbsolute)) {
    const file = join(folder, binary)
    if (attempt(() => accessSync(file, constants.X_OK) ?? true)) return { file, args: [] }
  }
  return undefined
}

/** Runs in a Node process of its own, so that it can be killed. It stores code in TMPDIR, which must be private. */
export function wasm(): Command | undefined {
  return attempt(() => {
    const script = join(require.resolve("ripgrep"), "..", "rg.mjs")
    mkdirSync(Global.cache(), { recursive: true, mode: 0o700 })
    const env = { TMPDIR: Global.cache(), NODE_NO_WARNINGS: "1" }
    return { file: process.execPath, args: [script], env }
  })
}

/** Runs to the end, or until `onPiece` returns false, the time limit is reached, or the signal aborts (which throws its
 * reason). Pieces end at a separator; one that is longer than 1 MB is cut. A line that ripgrep cut does not end with a part
 * of a known secret. `stdin` is a descriptor to search instead of files. */
export async function run(options: {
  args: string[]
  cwd: string
  separator: "\n" | "\0"
  onPiece: (piece: string) => unknown
  /** Gets each line of stderr, which is then not kept. */
  onError?: (line: string) => void
  signal?: AbortSignal
  stdin?: number
  command?: Command
}): Promise<Outcome> {
  const { cwd, signal, command = find() } = options
  signal?.throwIfAborted()
  if (options.args.some((arg) => arg.length > maxArgument))
    throw new NamedError(
      "Ripgrep.TooLong",
      `The pattern is too long; at most ${maxArgument} characters can be searched for.`,
    )
  const child = childProcess().spawn(
    command.file,
    [...command.args, "--no-config", "--color=never", ...limits, ...options.args],
    {
      cwd,
      env: { ...Env.forChild(), ...command.env },
      stdio: [options.stdin ?? "ignore", "pipe", "pipe"],
    },
  )
  const end = () => void child.kill("SIGKILL")
  signal?.addEventListener("abort", end, { once: true })
  let stopped = false
  let timedOut = false
  const deadline = setTimeout(() => {
    timedOut = true
    end()
  }, secondsAllowed * 1_000)
  let errors = ""
  pieces(child.stderr!, "\n", (line) => {
    if (options.onError) options.onError(line)
    else if (errors.length < maxErrors) errors += `${line}\n`
    return true
  })
  pieces(child.stdout!, options.separator, (piece) => {
    stopped ||= options.onPiece(withoutSplitSecret(piece)) === false
    if (stopped) end()
    return !stopped
  })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve)
    })
    signal?.throwIfAborted()
    return {
      code: stopped || timedOut ? undefined : (code ?? 2),
      errors: errors.slice(0, maxErrors).trimEnd(),
      timedOut,
    }
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener("abort", end)
  }
}

function withoutSplitSecret(piece: string): string {
  const mark = piece.endsWith("]") ? cutMark.exec(piece) : null
  return mark ? Secret.cut(piece, mark.index) + mark[0] : piece
}

/** Passes on whole pieces; the rest after the last separator comes at the end. */
function pieces(stream: Readable, separator: string, onPiece: (piece: string) => boolean) {
  let rest = ""
  let going = true
  stream.setEncoding("utf8").on("data", (text: string) => {
    if (!going) return
    let start = 0
    for (let at = text.indexOf(separator); at >= 0 && going; at = text.indexOf(separator, start)) {
      going = onPiece(rest ? rest + text.slice(start, at) : text.slice(start, at))
      rest = ""
      start = at + 1
    }
    if (rest.length < maxPiece) rest += text.slice(start)
  })
  stream.on("end", () => going && rest && onPiece(rest))
}

/** Undefined if something is not installed: nothing else can fail in a lookup. */
function attempt<T>(lookup: () => T): T | undefined {
  try {
    return lookup()
  } catch {
    return undefined
  }
}
