// The parts of docs/cli.md: every command with its options, recorded by an object that replaces yargs.
import type { Argv } from "yargs"
import { addCommands } from "#edge/cli/commands.ts"
import { sharedOptions } from "#edge/cli/option/options.ts"
import { exitCodes, exitMeanings } from "#edge/cli/process/exit.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { sentence, table } from "./fields.ts"

export type Option = {
  describe?: string
  type?: string
  alias?: string | string[]
  choices?: readonly string[]
  default?: unknown
  array?: boolean
  demandOption?: boolean
  hidden?: boolean
}
export type Command = {
  usage: string
  describe: string
  positionals: [name: string, option: Option][]
  options: [name: string, option: Option][]
  commands: Command[]
  needsCommand: boolean
}

export function commands(): Command[] {
  const { command, yargs } = record("vitamin", "")
  addCommands(yargs as unknown as Argv<FolderOptions>)
  return command.commands
}

export function renderCommands(): Record<string, string[]> {
  const codes = Object.entries(exitCodes).map(([name, code]) => [
    `${code}`,
    sentence(exitMeanings[name as keyof typeof exitCodes]),
  ])
  return {
    commands: commands().flatMap((command) => [
      `## ${command.usage.split(" ").slice(0, 2).join(" ")}`,
      "",
      ...section(command),
      ...command.commands.flatMap((inner) => [`### ${inner.usage}`, "", ...section(inner)]),
    ]),
    shared: optionTable(Object.entries(sharedOptions)),
    exits: table(["code", "meaning"], codes),
  }
}

function section({ usage, describe, positionals, options, needsCommand }: Command): string[] {
  const rows = [...positionals.map(positionalRow), ...options.map(optionRow)]
  return [
    sentence(describe),
    "",
    ...(needsCommand ? [] : ["```sh", usage, "```", ""]),
    ...(rows.length ? [...table(["argument", "values", "default", "meaning"], rows), ""] : []),
  ]
}

function optionTable(options: [string, Option][]): string[] {
  return table(["option", "values", "default", "meaning"], options.map(optionRow))
}

function positionalRow([name, option]: [string, Option]): string[] {
  return [`\`${name}\``, valuesOf(option), defaultOf(option), sentence(option.describe ?? "")]
}

function optionRow([name, option]: [string, Option]): string[] {
  const names = [`--${name}`, ...[option.alias ?? []].flat().map((alias) => `-${alias}`)]
  return [
    names.map((text) => `\`${text}\``).join(", "),
    valuesOf(option),
    defaultOf(option),
    sentence(option.describe ?? ""),
  ]
}

function valuesOf({ choices, type, array }: Option): string {
  const value = choices ? choices.map((choice) => `\`${choice}\``).join(", ") : (type ?? "string")
  return array ? `${value}, several` : value
}

function defaultOf({ default: value, demandOption }: Option): string {
  return value === undefined ? (demandOption ? "required" : "") : `\`${value}\``
}

type Builder = (yargs: unknown) => unknown

/** Replaces yargs: records what is declared about a command, and runs the builders of its subcommands. */
function record(usage: string, describe: string): { command: Command; yargs: object } {
  const command: Command = {
    usage,
    describe,
    positionals: [],
    options: [],
    commands: [],
    needsCommand: false,
  }
  const said: Record<string, (...args: never[]) => void> = {
    option: (name: string, option: Option) => void (option.hidden || command.options.push([name, option])),
    options: (options: Record<string, Option>) => void command.options.push(...Object.entries(options)),
    positional: (name: string, option: Option) => void command.positionals.push([name, option]),
    demandCommand: () => {
      command.needsCommand = true
    },
    command: (name: string, text: string, build?: Builder) => {
      const [parent] = usage.split(" [")[0]!.split(" <")
      const inner = record(`${parent} ${name}`, text)
      build?.(inner.yargs)
      command.commands.push(inner.command)
    },
  }
  const yargs: object = new Proxy(
    {},
    {
      get:
        (_, name: string) =>
        (...args: never[]) => {
          said[name]?.(...args)
          return yargs
        },
    },
  )
  return { command, yargs }
}
