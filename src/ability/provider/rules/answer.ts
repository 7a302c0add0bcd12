// The final answer: a summary of the results, and what was not done.

import { ownCommand } from "#util/own-command.ts"
import { hasFailed, type Outcome } from "./next-move.ts"
import { countIn, filesIn, gitTrouble, gitUnchanged, type Proposal, type Result } from "./skill/proposal.ts"
import { self, shortAbilities } from "./skill/talk.ts"

const maxLines = 300
const known = /^(?:read|ls|glob|grep|bash|edit|write)$/

/** `tools`: those that can be called. A specialist may have none that the rules know. */
export function answer(outcomes: Outcome[], tools: readonly { name: string }[]): string {
  if (!outcomes.some(({ step }) => step.proposal))
    return tools.some(({ name }) => known.test(name))
      ? `I have no rule for this request.\n${shortAbilities}`
      : `${self} My rules need tools for files and commands, which this agent does not have. Use the agent build, or a language model: ${ownCommand} models`
  return outcomes.flatMap(describeOutcome).join("\n\n")
}

function describeOutcome({ step, made, picked, reason }: Outcome): string[] {
  const { asked, proposal } = step
  if (!proposal) return [`I have no rule for this part: ${asked}`]
  // Results that were only needed to choose a file are not shown.
  const shown = made.filter(
    ({ tool }) => !(picked && proposal.after!.tool === "ls" && /^(?:ls|glob)$/.test(tool)),
  )
  return [
    ...(made.some(({ tool }) => tool === proposal.instead?.tool)
      ? [`There is no ${proposal.calls[0]!.args.path}.`]
      : []),
    ...shown.map((one) => describeCall(one, proposal)),
    ...(picked?.length && !made.some(({ tool }) => /^(?:read|edit|write|bash)$/.test(tool))
      ? [picked.join("\n")]
      : []),
    ...(reason ? [`Not done (${asked}): ${reason}.`] : []),
    ...(proposal.refusal ? [proposal.refusal] : []),
  ]
}

function describeCall(made: Result, { count, last, isTest }: Proposal): string {
  const { tool, args, output, isError } = made
  if (isError) return `${tool} ${shortArguments(args)} did not work: ${output}`
  const said = gitTrouble(made) ?? gitUnchanged(made)
  if (said) return said
  if (count) return counted(made, count)
  if (last !== undefined && /; go on with startLine \d/.test(output.slice(-200)))
    return `${args.path} is too long for me to show its end: run \`tail -n ${last} ${args.path}\``
  if (tool === "read") return `${args.path}:\n${bound(plainLines(output), last)}`
  if (tool === "ls") return `${args.path ?? "."}:\n${bound(output.split("\n"))}`
  if (tool === "glob" && !filesIn(made).length) return output
  if (tool === "glob") return `${plural(filesIn(made).length, "file")}:\n${bound(output.split("\n"))}`
  if (tool === "grep") return bound(matchLines(output))
  if (tool === "bash" && isTest) return testReport(made)
  if (output) return bound(output.split("\n"))
  return tool === "bash" ? `Done: ${shortArguments(args)}` : `${tool} is done.`
}

const failing =
  /^\s*(?:not ok \d+ -|✖|✗|×|✕|FAIL(?:ED)?:?|ERROR:|--- FAIL:|●|test (?=.*\.\.\. FAILED$)) *(.+)$/

/** The verdict first, then the failed tests, then the output. */
function testReport(made: Result): string {
  const command = shortArguments(made.args)
  const output = bound(made.output.split("\n"))
  if (!hasFailed(made)) return `The tests pass (${command}).\n\n${output}`
  const names = made.output.split("\n").flatMap((line) => failing.exec(line)?.[1] ?? [])
  const list = [...new Set(names.map((name) => name.replace(/ \([\d.]+m?s\)$/, "")))]
    .filter((name) => !/^failing tests:?$/.test(name))
    .slice(0, 50)
  const which = list.length ? `. Failing:\n${list.map((name) => `  ${name}`).join("\n")}` : "."
  return `The tests fail (${command})${which}\n\n${output}`
}

function counted(made: Result, count: NonNullable<Proposal["count"]>): string {
  const number = countIn(made, count)
  const where = typeof made.args.path === "string" ? ` in ${made.args.path}` : ""
  const what = made.tool === "ls" ? "entry" : count.replace(/s$/, "").replace("matche", "match")
  const head = `${plural(number, what)}${where}`
  if (count === "lines" || String(number) === "0") return head
  return `${head}\n${bound(made.tool === "grep" ? matchLines(made.output) : made.output.split("\n"))}`
}

function plural(number: number | string, noun: string): string {
  if (String(number) === "1") return `1 ${noun}`
  return `${number} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : noun.endsWith("ch") ? `${noun}es` : `${noun}s`}`
}

/** Without line numbers, so that it equals the file. */
function plainLines(output: string): string[] {
  return output.split("\n").map((line) => line.replace(/^\d+\t/, ""))
}

/** `file:12: text` for each match. */
function matchLines(output: string): string[] {
  let file = ""
  return output.split("\n").flatMap((line) => {
    const match = /^(\d+)([:-])(.*)$/s.exec(line)
    if (match)
      return [`${file}${file && match[2]}${match[1]}${match[2]}${match[2] === ":" ? " " : ""}${match[3]}`]
    if (!line || /^\[.*\]$|^--$|^No match/.test(line)) return line ? [line] : []
    file = line
    return []
  })
}

function bound(lines: string[], last?: number): string {
  if (last !== undefined) {
    const text = lines.filter((line, i) => i < lines.length - 1 || !/^\[.*\]$/.test(line))
    return text.slice(-last).join("\n")
  }
  if (lines.length <= maxLines) return lines.join("\n")
  return `${lines.slice(0, maxLines).join("\n")}\n… ${lines.length - maxLines} more lines`
}

function shortArguments(args: Result["args"]): string {
  const { command, path, url, pattern } = args
  return String(command ?? url ?? path ?? pattern ?? "").slice(0, 100)
}
