// Parses any command line with yargs: help, completion of names, and errors with suggestions.
import yargs from "yargs"
import { sharedOptions, takeShared } from "#edge/cli/option/options.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import { version } from "#util/version.ts"
import { addCommands } from "./commands.ts"
import { readMeant } from "./plain-line.ts"

/** Options of other coding agents, and our options that do the same. */
const inOtherAgents = new Map([
  ["resume", "--continue (the newest session) or --session ID"],
  ["r", "--continue (the newest session) or --session ID"],
  ["s", "--session ID"],
  ["i", "--image FILE"],
  ["output-format", "--format json"],
  ["json", "--format json"],
  ["max-turns", "--max-steps N"],
  ["permission-mode", "--mode plan"],
  ["allowedTools", '--allow "bash.execute:npm test"'],
  ["disallowedTools", '--deny "bash.execute:npm test"'],
  ["dangerously-skip-permissions", "--yes"],
  ["full-auto", "--yes"],
  ["cd", "--dir FOLDER"],
])

export async function runAnyLine(args: string[]): Promise<void> {
  const shared = yargs(args)
    .scriptName(ownCommand)
    .usage(
      `${ownCommand} <command>, or ${ownCommand} "PROMPT"\n\nAn open, self-hostable agent runtime and coding agent.`,
    )
    .options(sharedOptions)
  await addCommands(shared)
    .middleware(takeShared)
    .example(`${ownCommand} run "fix the login bug"`, "run a prompt in this folder")
    .example(`${ownCommand} serve --port 0`, "serve on any free port")
    .example(`${ownCommand} config show`, "show the configuration and the origin of each value")
    .demandCommand(1, "Name a command.")
    .strictCommands()
    .strict()
    .recommendCommands()
    .version(version)
    .help()
    .alias("help", "h")
    .wrap(Math.min(100, process.stdout.columns ?? 100))
    .exitProcess(false)
    .fail((message, error) => {
      if (error && error.name !== "YError") throw error
      throw new UsageError(explain((message ?? error.message).replace(/\s+/g, " "), args))
    })
    .parseAsync()
}

/** Rewords an error of yargs for the command that was meant, and adds that command's usage. */
function explain(message: string, args: string[]): string {
  const { commands, pattern, options } = readMeant(args, sharedOptions, addCommands)
  const command = [ownCommand, ...commands].join(" ")
  const usage = [ownCommand, ...commands.slice(0, -1), pattern].join(" ")
  if (message.startsWith("Not enough non-option arguments") && pattern.endsWith(" <provider>"))
    return `Name a provider, such as: ${command} anthropic (${ownCommand} models lists all)`
  if (message.startsWith("Not enough non-option arguments") && args.includes("--"))
    return `Words after "--" do not count here: ${usage} (${command} --help)`
  if (message.startsWith("Not enough non-option arguments"))
    return `Something is missing: ${usage} (${command} --help)`
  const [, one, other] = /^Arguments (\S+) and (\S+) are mutually exclusive$/.exec(message) ?? []
  if (other) return `Use --${one} or --${other}, not both (${command} --help)`
  const [, name, given, choices] =
    /^Invalid values: Argument: ([\w-]+), Given: (.+), Choices: (.+)$/.exec(message) ?? []
  if (choices) return `--${name} takes one of ${choices}, not ${given} (${command} --help)`
  const [, near] = /^Did you mean ([\w-]+)\?$/.exec(message) ?? []
  if (near) return `Unknown command. Did you mean: ${command} ${near}? (${command} --help)`
  // yargs reports `--max-stpes` a second time as maxStpes.
  const [, unknown] = /^Unknown arguments?: ([\w-]+)(?:, \w+)?$/.exec(message) ?? []
  // yargs reports a surplus word in the same way.
  const option = args
    .map((word) => word.split("=", 1)[0]!)
    .find((word) => /^-/.test(word) && word.endsWith(`-${unknown}`))
  if (!unknown || !option) return `${message} (${command} --help)`
  const alike = unknown.length > 1 ? nearest(unknown, [...options, "help", "version"]) : undefined
  const meant = (commands[0] === "run" && inOtherAgents.get(unknown)) || (alike && `--${alike}`)
  return `Unknown option: ${option}.${meant ? ` Did you mean ${meant}?` : ""} (${command} --help)`
}
