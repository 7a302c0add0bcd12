// Which commands of a line have succeeded, if the line ended with exit code 0. `npm test || true`, `npm test; true` and
// `npm test | tail` say nothing about the tests.
import { type ParsedScript, parse } from "unbash"
import { type SimpleCommand, splitCommand } from "./split-command.ts"

type Statement = ParsedScript["commands"][number]
type Node = Statement["command"]

/** The words of each command, with one blank between them. Empty if that is unclear. */
export function succeededCommands(line: string): string[] {
  const split = splitCommand(line)
  if (split.unclear !== undefined || split.commands.some(changesMeaning)) return []
  const { commands, errors } = parse(line)
  const last = commands.at(-1)
  if (errors?.length || !last || last.background) return []
  if (commands.some(({ command }) => command.type === "Function")) return []
  return textsOf(last.command, line)
}

/** After these, a name or an exit code may mean something else. */
function changesMeaning({ words, sets }: SimpleCommand): boolean {
  return sets || /^(alias|trap|eval|exec|source|\.|enable|hash)$/.test(words[0]?.text ?? "")
}

function textsOf(node: Node, line: string): string[] {
  switch (node.type) {
    case "Command":
      return splitCommand(line.slice(node.pos, node.end))
        .commands.slice(0, 1)
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
