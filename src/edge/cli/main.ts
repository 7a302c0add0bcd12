// The command line: the one place where an error becomes a line on stderr and an exit code. Nothing else reads argv.
import { sharedOptions, takeShared } from "#edge/cli/option/options.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import { addCommands } from "./commands.ts"
import { readPlainLine } from "./plain-line.ts"

/** The commands that yargs knows; a test compares them with --help. */
export const commandNames = [
  ...["run", "chat", "attach", "session", "models", "agent", "permission", "tool", "skill", "mcp", "auth"],
  ...["command", "script", "vault", "guard", "world", "serve", "web", "acp", "a2a", "config", "trust"],
  ...["hook", "plugin", "doctor", "stats", "storage", "upgrade", "token", "audit", "project", "secret"],
  ...["schedule", "limit"],
]
/** Words that people type for a command that has another name here. */
const otherNames = new Map([
  ["undo", "session revert"],
  ["revert", "session revert"],
  ["rewind", "session revert"],
  ["redo", "session redo"],
  ["diff", "session diff"],
  ["fork", "session fork"],
  ["compact", "session compact"],
  ["export", "session export"],
  ["import", "session import FILE"],
  ["history", "session list"],
  ["update", "upgrade"],
  ["usage", "stats"],
  ["cost", "stats"],
  ["resume", '-c "…"'],
  ["continue", '-c "…"'],
  ["login", "auth login PROVIDER"],
  ["logout", "auth logout PROVIDER"],
  ["exec", 'run "…"'],
  ["settings", "config show"],
  ["version", "--version"],
])
/** Options that may come before a command, and whether they take a value. */
const shared = new Map([
  ["--dir", true],
  ["--set", true],
  ["-C", true],
  ["--log-level", true],
  ["--log-file", true],
  ["--trust", false],
])
const answeredByYargs = new Set(["--help", "-h", "--version", "-v"])

/** Run one command line; returns the exit code. */
export async function main(args: string[]): Promise<number> {
  process.stdout.on("error", leaveQuietly)
  // The reader of the log has gone; the command continues.
  process.stderr.on("error", () => {})
  try {
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
    await runLine(withDefaultCommand(args, isTerminal))
    return Number(process.exitCode ?? exitCodes.done)
  } catch (error) {
    const text = `vitamin: ${Secret.redact(Log.escapeControls(errorText(error)).replaceAll("\\u000a", "\n"))}`
    process.stderr.write(
      `${process.stderr.isTTY ? (await import("#edge/cli/terminal/wrap-text.ts")).wrapLines(text) : text}\n`,
    )
    if (Log.enabled("debug") && error instanceof Error)
      process.stderr.write(`${Secret.redact(error.stack ?? "")}\n`)
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failed
  }
}

async function runLine(args: string[]): Promise<void> {
  const plain = readPlainLine(args, sharedOptions, addCommands)
  if (!plain) return (await import("./any-line.ts")).runAnyLine(args)
  await takeShared(plain.options)
  await plain.handler(plain.options)
}

/** The reader of our output has gone (`vitamin config show | head`). */
function leaveQuietly(error: NodeJS.ErrnoException) {
  if (error.code !== "EPIPE") throw error
  process.exit(exitCodes.done)
}

/** Options that only `run` has. */
const onlyRun = /^--(?:format|output-schema|prompt|refresh)(?:=|$)/

/** The command line, with `chat` or `run` added if it names no command: `vitamin` and `vitamin "fix the bug"` open the
 * interactive terminal. Without a terminal, and with -p, the latter means `vitamin run "fix the bug"`. */
function withDefaultCommand(args: string[], isTerminal: boolean): string[] {
  let place = 0
  while (place < args.length && shared.has(args[place]!.split("=", 1)[0]!))
    place += shared.get(args[place]!) ? 2 : 1
  const first = args[place]
  const [next, ...others] = args.slice(place + 1)
  // `vitamin help`, `vitamin help session`; other text that begins with "help" is a prompt.
  if (first === "help" && !others.length && (next === undefined || commandNames.includes(next)))
    return next === undefined ? ["--help"] : [next, "--help"]
  if (first === "run") return withLastHelp(args)
  if (first === undefined && isTerminal && !args.includes("--help")) return ["chat", ...args]
  const isLeftAlone = first === undefined || commandNames.includes(first) || answeredByYargs.has(first)
  if (isLeftAlone || args.includes("--help")) return args
  refuseMisspelt(first, args.slice(place + 1))
  // `run` prints the answer and exits, as -p of other agents does.
  const end = args.indexOf("--")
  const isPrint = (word: string, at: number) => /^(-p|--print)$/.test(word) && (end < 0 || at < end)
  const isChat = isTerminal && !args.some((word, at) => isPrint(word, at) || onlyRun.test(word))
  return withLastHelp([isChat ? "chat" : "run", ...args.filter((word, at) => !isPrint(word, at))])
}

/** yargs takes a final word `help` for --help. In `vitamin run please help` it belongs to the prompt; an empty word after it
 * prevents that. */
function withLastHelp(args: string[]): string[] {
  return args.length > 2 && args.at(-1) === "help" ? [...args, ""] : args
}

/** Refuses a misspelt command, or the name that another program has for a command: neither is a prompt. */
function refuseMisspelt(first: string, rest: string[]): void {
  if (!/^\w[\w-]*$/.test(first) || first === "help") return
  const meant = commandMeant(first, rest)
  if (meant)
    throw new UsageError(
      `"${first}" is not a command. Did you mean: ${ownCommand} ${meant}? To send it as a prompt: ${ownCommand} run "${first}"`,
    )
}

/** The command that a word probably means. A short word, or one before other words, must be closer: `hello`, `test` and
 * `add tests` are prompts, although "hello" is near "help" and "add" near "acp". `continue -c` is a prompt for that
 * session. */
function commandMeant(word: string, rest: string[]): string | undefined {
  const isAlone = rest.every((one) => one.startsWith("-"))
  const hasSession = rest.some((one) => /^(?:-c|--continue|--session)\b/.test(one))
  const others = isAlone && !hasSession ? otherNames : new Map<string, string>()
  if (others.has(word)) return others.get(word)
  const near = nearest(word, [...commandNames, "help"])
  if (near !== undefined && ((isAlone && isCloseFor(word, near)) || isTypo(word, near))) return near
  const other = [...others.keys()].find((name) => isTypo(word, name))
  return other && others.get(other)
}

/** Long words may differ in more than one letter. */
function isCloseFor(word: string, command: string): boolean {
  const differing = [...word].filter((letter, at) => letter !== command[at]).length
  return word.length > 5 || (word.length === command.length && differing === 1)
}

/** The same letters in another order, or all letters but one in order. */
function isTypo(word: string, command: string): boolean {
  const letters = (text: string) => [...text].sort().join("")
  if (letters(word) === letters(command)) return true
  const [short, long] = word.length < command.length ? [word, command] : [command, word]
  return [...long].some((_, at) => long.slice(0, at) + long.slice(at + 1) === short)
}
