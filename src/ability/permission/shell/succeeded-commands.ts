// Which commands of a line have succeeded, if the line ended with exit code 0. `npm test || true`, `npm test; true` and
// `npm test | tail` say nothing about the tests.
import type { ParsedScript } from "unbash"
import { parse } from "./parse-shell.ts"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

type Statement = ParsedScript["commands"][number]
type Node = Statement["command"]

/** Builtins after which a name or an exit code may mean something else, or the line ends early. */
const builtins =
  /^(\.|alias|break|builtin|command|continue|declare|enable|eval|exec|exit|export|getopts|hash|let|local|mapfile|printf|read|readarray|readonly|return|set|shopt|source|trap|typeset|unalias|unset|wait)$/
/** With these, a command does not do what it is for. */
const onlyTells = /^(-h|--help|--version|--dry-run|--no-run|--collect-only|--list\S*|--passWithNoTests)$/

/** The words of each command, with one blank between them. Empty if that is unclear. */
export function succeededCommands(line: string): string[] {
  const split = splitCommand(line)
  if (split.unclear !== undefined || split.commands.some(changesMeaning)) return []
  const { commands, errors } = parse(line)
  const last = commands.at(-1)
  if (errors?.length || !last || last.background) return []
  if (!commands.every(({ command }) => isPlain(command))) return []
  return textsOf(last.command, line)
}

function changesMeaning({ words, sets }: SimpleCommand): boolean {
  return sets || builtins.test(words[0]?.text ?? "")
}

/** Neither a function nor a loop, a condition or a group, which may hold one. */
function isPlain(node: Node): boolean {
  if (node.type === "AndOr" || node.type === "Pipeline") return node.commands.every(isPlain)
  return node.type === "Command"
}

function textsOf(node: Node, line: string): string[] {
  switch (node.type) {
    case "Command":
      return splitCommand(line.slice(node.pos, node.end))
        .commands.slice(0, 1)
        .filter(({ words }) => !words.some(({ text }) => onlyTells.test(text)))
        .map(({ text }) => text)
    case "AndOr":
      return node.operators.every((operator) => operator === "&&")
        ? node.commands.flatMap((one) => textsOf(one, line))
        : []
    case "Pipeline":
      return node.prefixes.length ? [] : node.commands.slice(-1).flatMap((one) => textsOf(one, line))
    default:
      return []
  }
}
